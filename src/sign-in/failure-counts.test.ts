import { expect, test } from 'vitest'
import { FailureCounts } from './failure-counts.ts'

const MINUTE = 60_000
const countsOf = (counts: FailureCounts, keys: readonly string[], nowMs = 0) =>
  keys.map((key) => counts.get(key, nowMs)?.count ?? 0)

test('failures are counted by key, and the latest time is known', () => {
  const counts = new FailureCounts({ entries: 10, kept: 3 })
  counts.add('a', 0)
  counts.add('a', 5)
  expect(counts.get('a', 6)).toEqual({ count: 2, lastMs: 5 })
  expect(counts.get('b', 6)).toBeUndefined()
})

test('failures are taken back one by one, or forgotten', () => {
  const counts = new FailureCounts({ entries: 10, kept: 3 })
  for (let turn = 0; turn < 3; turn++) counts.add('a', 0)
  counts.takeBack('a')
  expect(countsOf(counts, ['a'])).toEqual([2])
  counts.takeBack('a')
  counts.takeBack('a')
  counts.takeBack('a')
  expect(countsOf(counts, ['a'])).toEqual([0])
  counts.add('b', 0)
  counts.forget('b')
  expect(countsOf(counts, ['b'])).toEqual([0])
})

test('failures are forgotten a quarter of an hour after the last one', () => {
  const counts = new FailureCounts({ entries: 10, kept: 3 })
  counts.add('a', 0)
  counts.add('a', 14 * MINUTE)
  expect(countsOf(counts, ['a'], 28 * MINUTE)).toEqual([2])
  expect(countsOf(counts, ['a'], 29 * MINUTE)).toEqual([0])
  counts.add('a', 29 * MINUTE)
  expect(countsOf(counts, ['a'], 29 * MINUTE)).toEqual([1])
})

test('the oldest entry goes when there are too many, but entries with many failures stay longer', () => {
  const counts = new FailureCounts({ entries: 3, kept: 2 })
  counts.add('locked', 0)
  counts.add('locked', 0)
  for (const key of ['b', 'c', 'd', 'e']) counts.add(key, 0)
  expect(countsOf(counts, ['locked', 'b', 'c', 'd', 'e'])).toEqual([2, 0, 0, 1, 1])
})

test('the oldest entry goes where all have many failures', () => {
  const counts = new FailureCounts({ entries: 2, kept: 1 })
  for (const key of ['a', 'b', 'c']) counts.add(key, 0)
  expect(countsOf(counts, ['a', 'b', 'c'])).toEqual([0, 1, 1])
})
