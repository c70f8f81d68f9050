import { expect, test } from 'vitest'
import { Refresher } from './refresher.ts'

function startRefresher() {
  let nowMs = 0
  let isWanted = true
  let timers: { atMs: number; run: () => void }[] = []
  const ends: (() => void)[] = []
  let reads = 0
  const refresher = new Refresher({
    refresh: () => {
      reads++
      return new Promise((resolve) => ends.push(resolve))
    },
    isWanted: () => isWanted,
    after: (ms, run) => void timers.push({ atMs: nowMs + ms, run }),
    now: () => nowMs,
  })
  const pass = async (ms: number): Promise<void> => {
    nowMs += ms
    const due = timers.filter(({ atMs }) => atMs <= nowMs)
    timers = timers.filter(({ atMs }) => atMs > nowMs)
    for (const { run } of due) run()
    await Promise.resolve()
  }
  const end = async (): Promise<void> => {
    ends.shift()?.()
    await Promise.resolve()
    await Promise.resolve()
  }
  return { refresher, pass, end, reads: () => reads, want: (wanted: boolean) => void (isWanted = wanted) }
}

test('a view is read at once, and once more after changes of that time', async () => {
  const { refresher, pass, end, reads } = startRefresher()
  refresher.mark()
  refresher.mark()
  expect(reads()).toBe(1)
  await pass(50)
  await end()
  await pass(199)
  expect(reads()).toBe(1)
  await pass(1)
  expect(reads()).toBe(2)
  await end()
  await pass(10_000)
  expect(reads()).toBe(2)
})

test('a view that takes long to read is read less often', async () => {
  const { refresher, pass, end, reads } = startRefresher()
  refresher.mark()
  await pass(1_000)
  refresher.mark()
  await end()
  await pass(1_999)
  expect(reads()).toBe(1)
  await pass(1)
  expect(reads()).toBe(2)
})

test('where changes do not end, a view is read less and less often, until they do', async () => {
  const { refresher, pass, end, reads } = startRefresher()
  const gaps: number[] = []
  refresher.mark()
  for (let read = 1; read <= 6; read++) {
    await pass(1_000)
    refresher.mark()
    await end()
    let gap = 0
    for (; reads() === read; gap += 1_000) await pass(1_000)
    gaps.push(gap / 1_000)
  }
  expect(gaps).toEqual([2, 4, 8, 16, 20, 20])
  await pass(1_000)
  await end()
  await pass(20_000)
  refresher.mark()
  await pass(1_000)
  refresher.mark()
  await end()
  await pass(2_000)
  expect(reads()).toBe(9)
})

test('an answer is read again when its view is open, not before', () => {
  const { refresher, reads, want } = startRefresher()
  refresher.returned()
  want(false)
  refresher.mark()
  expect(reads()).toBe(0)
  want(true)
  refresher.returned()
  expect(reads()).toBe(1)
})

test('a view that is gone is not read', () => {
  const { refresher, reads } = startRefresher()
  refresher.stop()
  refresher.mark()
  expect(reads()).toBe(0)
})
