import { expect, test } from 'vitest'
import { wrongInCommitOrder } from './commit-order.ts'

test('concurrent writes may have any order, and later ones have higher ids', () => {
  const first = { id: 5, begunMs: 0, endedMs: 10 }
  expect(wrongInCommitOrder([first, { id: 4, begunMs: 9, endedMs: 12 }])).toEqual([])
  expect(wrongInCommitOrder([first, { id: 6, begunMs: 11, endedMs: 12 }])).toEqual([])
  expect(wrongInCommitOrder([first, { id: 4, begunMs: 11, endedMs: 12 }])).toHaveLength(1)
  expect(wrongInCommitOrder([first, { id: 5, begunMs: 1, endedMs: 12 }])).toHaveLength(1)
})
