import { expect, test } from 'vitest'
import { sumOfLines } from './sum-of-lines.ts'

test('lines are added from their end', () => {
  expect(sumOfLines([[1, 2, 3], [10]])).toEqual([1, 2, 13])
  expect(sumOfLines([])).toEqual([])
})
