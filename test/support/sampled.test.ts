import { expect, test } from 'vitest'
import { sampled } from './sampled.ts'

const CASES = Array.from({ length: 22 }, (_, index) => index)
const groupOf = (one: number): string => (one < 20 ? 'many' : `alone ${one}`)

test('a sample has a quarter of each group, at least one case, in their order', () => {
  const sample = sampled(CASES, groupOf, 1)
  expect(sample.filter((one) => one < 20)).toHaveLength(5)
  expect(sample.slice(5)).toEqual([20, 21])
  expect(sample).toEqual(sample.toSorted((a, b) => a - b))
  expect(sampled(CASES.slice(0, 5), groupOf, 1)).toHaveLength(2)
  expect(sampled([], groupOf, 1)).toEqual([])
})

test('a seed repeats its sample, and others have other cases, until each has had its turn', () => {
  expect(sampled(CASES, groupOf, 7)).toEqual(sampled(CASES, groupOf, 7))
  expect(sampled(CASES, groupOf, 7)).not.toEqual(sampled(CASES, groupOf, 8))
  const seen = new Set(Array.from({ length: 100 }, (_, seed) => sampled(CASES, groupOf, seed)).flat())
  expect(seen.size).toBe(CASES.length)
})

test('without a seed all cases run', () => {
  expect(sampled(CASES, groupOf, null)).toEqual(CASES)
})
