import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Timers } from './timers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a job runs at its interval until the timers stop', async () => {
  let runs = 0
  const timers = new Timers(() => {})
  timers.every(100, 'count', () => void runs++)
  await vi.advanceTimersByTimeAsync(350)
  expect(runs).toBe(3)
  timers.stop()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toBe(3)
})

test('runs that come due during a long run are skipped', async () => {
  let runs = 0
  const timers = new Timers(() => {})
  timers.every(100, 'slow', async () => {
    runs++
    await new Promise((resolve) => setTimeout(resolve, 250))
  })
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toBe(4)
  timers.stop()
})

test('a job that throws or rejects is reported and runs again', async () => {
  const faults: string[] = []
  const timers = new Timers((error, job) => faults.push(`${job}: ${String(error)}`))
  timers.every(100, 'now', () => {
    throw new Error('a')
  })
  timers.every(150, 'later', () => Promise.reject(new Error('b')))
  await vi.advanceTimersByTimeAsync(300)
  expect(faults.toSorted()).toEqual([
    'later: Error: b',
    'later: Error: b',
    'now: Error: a',
    'now: Error: a',
    'now: Error: a',
  ])
  timers.stop()
})

test('each pulse says how late it is', () => {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
  const delays: number[] = []
  const timers = new Timers(
    () => {},
    (lateMs) => void delays.push(lateMs),
  )
  timers.every(100, 'nothing', () => {})
  // The third comes after the thread was busy, the fourth half a millisecond early.
  for (const nowMs of [1_100, 1_201, 1_551, 1_650.5]) {
    clock.mockReturnValue(nowMs)
    vi.advanceTimersByTime(100)
  }
  expect(delays).toEqual([0, 1, 250, 0])
  timers.stop()
  clock.mockRestore()
})
