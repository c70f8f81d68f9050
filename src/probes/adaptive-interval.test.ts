import { expect, test } from 'vitest'
import { clampInterval, firstDelay, nextInterval } from './adaptive-interval.ts'

const tcp = { max: 5000, min: 1000, factor: 0.75 }

test('the next interval is between the last one and the duration of the probe', () => {
  expect(nextInterval(4000, 2000, tcp)).toBe(3500)
  expect(nextInterval(1000, 5000, tcp)).toBe(2000)
})

test('the interval stays within its bounds', () => {
  expect(nextInterval(1000, 1, tcp)).toBe(1000)
  expect(nextInterval(5000, 60_000, tcp)).toBe(5000)
})

test('a minimum above the maximum wins, and no interval is below 10 ms', () => {
  expect(clampInterval(50, { max: 10, min: 100, factor: 0 })).toBe(100)
  expect(clampInterval(0, { max: 0, min: 0, factor: 0 })).toBe(10)
})

test('the first probe comes after at most 2 s and a random part of the minimum', () => {
  expect(firstDelay(tcp, 0)).toBe(1000)
  expect(firstDelay(tcp, 0.5)).toBe(1500)
  expect(firstDelay({ max: 60_000, min: 5000, factor: 0 }, 0.999)).toBeCloseTo(6995)
  expect(firstDelay({ max: 50, min: 20, factor: 0 }, 0.5)).toBe(30)
})
