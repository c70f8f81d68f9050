import { expect, test } from 'vitest'
import { LoopDelay } from './loop-delay.ts'

/** The pulses and the tick of one second, of which one pulse may be late. */
function second(delay: LoopDelay, lateMs = 0): void {
  delay.note(lateMs)
  for (let pulse = 1; pulse < 10; pulse++) delay.note(0)
  delay.tick()
}

test('nothing was late before the first pulse', () => {
  expect(new LoopDelay().read()).toEqual({ p50: 0, p99: 0, max: 0 })
})

test('a peak stays for a minute', () => {
  const delay = new LoopDelay()
  second(delay, 250)
  expect(delay.read().max).toBeCloseTo(0.25, 2)
  expect(delay.read().p50).toBeCloseTo(0, 3)
  for (let more = 1; more < 59; more++) second(delay)
  expect(delay.read().max).toBeCloseTo(0.25, 2)
  for (let more = 59; more < 70; more++) second(delay)
  expect(delay.read().max).toBeCloseTo(0, 3)
})
