import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { Timers } from './timers.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('a job runs each so often until all stop', async () => {
  let runs = 0
  const timers = new Timers(() => {})
  timers.every(100, 'count', () => void runs++)
  await vi.advanceTimersByTimeAsync(350)
  expect(runs).toBe(3)
  timers.stop()
  await vi.advanceTimersByTimeAsync(1_000)
  expect(runs).toBe(3)
})

test('a run that takes long stands for those that are due meanwhile', async () => {
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

test('a job that throws, at once or later, is told of and runs again', async () => {
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
