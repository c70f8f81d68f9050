import { afterEach, expect, test } from 'vitest'
import { FAN_OUT, SlicedWork } from './sliced-work.ts'
import { reportFaultsTo } from '../unexpected.ts'

afterEach(() => reportFaultsTo(undefined))

function fakeLoop() {
  const waiting: (() => void)[] = []
  const loop = { nowMs: 0, now: () => loop.nowMs, soon: (run: () => void) => void waiting.push(run), waiting }
  return loop
}

test('work is done in slices that each end within 10 ms', () => {
  const loop = fakeLoop()
  let left = 100
  const work = new SlicedWork(loop, () => {
    loop.nowMs += 1
    left--
    return left > 0
  })
  work.start()
  work.start()
  expect(left).toBe(100)
  let longestMs = 0
  let turns = 0
  for (let run = loop.waiting.shift(); run !== undefined; run = loop.waiting.shift()) {
    const startedMs = loop.nowMs
    run()
    longestMs = Math.max(longestMs, loop.nowMs - startedMs)
    turns++
  }
  expect(left).toBe(0)
  expect(longestMs).toBeLessThanOrEqual(10)
  expect(turns).toBe(20)
})

test('a fan-out has half of the time of a busy loop', () => {
  const loop = fakeLoop()
  let left = 1_000
  const work = new SlicedWork(
    loop,
    () => {
      loop.nowMs += 1
      left--
      return left > 0
    },
    FAN_OUT,
  )
  work.start()
  for (const otherMs of [0, 2, 30, 400, 400]) {
    loop.nowMs += otherMs
    const startedMs = loop.nowMs
    loop.waiting.shift()!()
    expect(loop.nowMs - startedMs).toBe(Math.min(Math.max(otherMs, 5), 250))
  }
})

/** The faults that are reported from now on. */
function faults(): unknown[] {
  const reported: unknown[] = []
  reportFaultsTo({ caught: (_boundary, error) => reported.push(error), fatal: () => undefined })
  return reported
}

test('a step that throws is reported, and the other steps still run', () => {
  const reported = faults()
  const loop = fakeLoop()
  let steps = 0
  const work = new SlicedWork(loop, () => {
    steps++
    if (steps === 1) throw new Error('one step failed')
    return steps < 3
  })
  work.start()
  loop.waiting.shift()?.()
  expect(reported).toEqual([new Error('one step failed')])
  loop.waiting.shift()?.()
  expect(steps).toBe(3)
  work.start()
  expect(loop.waiting).toHaveLength(1)
})

test('a step that throws for ever ends the run, so that it does not take all of the processor', () => {
  const reported = faults()
  const loop = fakeLoop()
  const work = new SlicedWork(loop, () => {
    throw new Error('each step fails')
  })
  work.start()
  for (let run = loop.waiting.shift(); run !== undefined; run = loop.waiting.shift()) run()
  expect(reported).toHaveLength(1_000)
  work.start()
  expect(loop.waiting).toHaveLength(1)
})
