import { expect, test } from 'vitest'
import { TimeLeft } from './time-left.ts'

test('the time left belongs to the step, and follows from its time so far', () => {
  let nowMs = 0
  const left = new TimeLeft(() => nowMs)
  expect(left.text('names of items', 1_200, 0)).toBe('names of items: 1,200')
  expect(left.text('items', 0, 4_000)).toBe('items: 0 of 4,000')
  nowMs = 10_000
  expect(left.text('items', 1_000, 4_000)).toBe('items: 1,000 of 4,000, about 30 s left')
  expect(left.text('items', 100, 4_000)).toBe('items: 100 of 4,000, about 7 min left')
  expect(left.text('items', 1, 4_000)).toBe('items: 1 of 4,000, about 11.1 h left')
  expect(left.text('services', 0, 7)).toBe('services: 0 of 7')
})
