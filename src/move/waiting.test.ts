import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { waitingOn } from './waiting.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('what a command waits for is told after five seconds, then less and less often', async () => {
  const told: string[] = []
  let done: (value: number) => void = () => {}
  const result = waitingOn({ show: (text) => told.push(text) })(
    'the database',
    new Promise((resolve) => (done = resolve)),
  )
  await vi.advanceTimersByTimeAsync(4_999)
  expect(told).toEqual([])
  await vi.advanceTimersByTimeAsync(36_000)
  expect(told).toEqual([5, 10, 20, 40].map((s) => `waypost: waiting for the database, ${s} s`))
  done(7)
  expect(await result).toBe(7)
  await vi.advanceTimersByTimeAsync(1_000_000)
  expect(told).toHaveLength(4)
})

test('a failure ends the waiting, too', async () => {
  const told: string[] = []
  const failing = waitingOn({ show: (text) => told.push(text) })('it', Promise.reject(new Error('gone')))
  await expect(failing).rejects.toThrow('gone')
  await vi.advanceTimersByTimeAsync(100_000)
  expect(told).toEqual([])
})
