import { expect, test } from 'vitest'
import { nextHistoryClock } from '../core/config/state/history-clock.ts'
import type { KeptRecords } from '../core/engine/ports.ts'
import { HistoryCleaner } from './history-cleaner.ts'

const DAY_MS = 86_400_000

type CleaningLimit = Parameters<KeptRecords['cleanHistory']>[0]

/** A cleaner on a store with `steps` steps of work, and the two clocks that it reads. */
function startCleaner(steps = 1, kept?: string) {
  const time = { wallMs: 100 * DAY_MS, monotonicMs: 0 }
  const asked: CleaningLimit[] = []
  const forgotten: number[] = []
  let remembered = kept
  const cleaner = new HistoryCleaner({
    store: {
      cleanHistory: (limit: CleaningLimit) => {
        asked.push(limit)
        return Promise.resolve({ removed: 1, more: asked.length % steps !== 0 })
      },
      remember: (_name: string, value: string) => {
        remembered = value
        return Promise.resolve()
      },
      recall: () => Promise.resolve(remembered),
    },
    wallMs: () => time.wallMs,
    monotonicMs: () => time.monotonicMs,
    retentionMs: 30 * DAY_MS,
    intervalMs: 600_000,
    keep: 20,
    forgetBefore: (beforeMs) => {
      forgotten.push(beforeMs)
      return Promise.resolve()
    },
  })
  return { cleaner, time, asked, forgotten }
}

test('the history clock follows the wall clock, also backwards, at most twice as fast as time passes', () => {
  expect(nextHistoryClock(undefined, 1_000, 10)).toBe(1_000)
  expect(nextHistoryClock(1_000, 1_010, 10)).toBe(1_010)
  expect(nextHistoryClock(1_000, 365 * DAY_MS, 10)).toBe(1_020)
  expect(nextHistoryClock(1_000, 500, 10)).toBe(500)
})

test('a round removes records older than the retention in steps, until none is left', async () => {
  const { cleaner, asked, forgotten } = startCleaner(3)
  await cleaner.clean()
  expect(forgotten).toEqual([70 * DAY_MS])
  expect(asked).toEqual(Array.from({ length: 3 }, () => ({ beforeMs: 70 * DAY_MS, keep: 20, most: 200 })))
})

test('a clock that jumps between two starts, before the first round, does not age history', async () => {
  const first = startCleaner()
  await first.cleaner.begin()
  const next = startCleaner(1, String(first.time.wallMs))
  next.time.wallMs += 365 * DAY_MS
  await next.cleaner.begin()
  await next.cleaner.clean()
  expect(next.asked.map(({ beforeMs }) => beforeMs)).toEqual([70 * DAY_MS])
})

test('a clock that jumps a year ahead ages history by minutes', async () => {
  const { cleaner, time, asked } = startCleaner()
  await cleaner.clean()
  time.wallMs += 365 * DAY_MS
  time.monotonicMs += 600_000
  await cleaner.clean()
  expect(asked.map(({ beforeMs }) => beforeMs)).toEqual([70 * DAY_MS, 70 * DAY_MS + 1_200_000])
})

test('a clock that jumps a year ahead before the first round ages history by twice the run time', async () => {
  const { cleaner, time, asked } = startCleaner()
  time.wallMs += 365 * DAY_MS
  time.monotonicMs += 60_000
  await cleaner.clean()
  expect(asked[0]?.beforeMs).toBe(70 * DAY_MS + 120_000)
})

test('a clock that jumped while the server was off ages history by twice the run time', async () => {
  const { cleaner, time, asked } = startCleaner(1, String(100 * DAY_MS))
  time.wallMs += 365 * DAY_MS
  time.monotonicMs += 60_000
  await cleaner.clean()
  expect(asked[0]?.beforeMs).toBe(70 * DAY_MS + 120_000)
})

test('the first round starts after a minute, the next ones after each interval', async () => {
  const { cleaner, time, asked } = startCleaner()
  const roundsBy = async (ms: number) => {
    time.monotonicMs = ms
    await cleaner.tick()
    return asked.length
  }
  expect([await roundsBy(59_000), await roundsBy(60_000), await roundsBy(61_000)]).toEqual([0, 1, 1])
  expect([await roundsBy(659_000), await roundsBy(660_000)]).toEqual([1, 2])
})

test('a stopped cleaner finishes its current step and starts no other', async () => {
  const { cleaner, asked } = startCleaner(1_000)
  const cleaning = cleaner.clean()
  setTimeout(() => cleaner.stop(), 50)
  await cleaning
  expect(asked.length).toBeLessThan(20)
})

test.each(['abc', 'NaN', '', '9e15', '9000000000000000', 'null', '-1'])(
  'a history clock %s is begun again by the clock of the server, and removes no more than that',
  async (kept) => {
    const { cleaner, asked, time } = startCleaner(1, kept)
    await cleaner.begin()
    time.monotonicMs += 1_000
    await cleaner.clean()
    expect(asked).toMatchObject([{ beforeMs: 70 * DAY_MS }])
    const damagedLater = startCleaner(1, kept)
    await damagedLater.cleaner.clean()
    expect(damagedLater.asked).toMatchObject([{ beforeMs: 70 * DAY_MS }])
  },
)
