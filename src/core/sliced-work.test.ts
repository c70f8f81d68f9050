import { expect, test } from 'vitest'
import { SlicedWork } from './sliced-work.ts'

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

test('after a step that throws, the other steps still run', () => {
  const loop = fakeLoop()
  let steps = 0
  const work = new SlicedWork(loop, () => {
    steps++
    if (steps === 1) throw new Error('one step failed')
    return steps < 3
  })
  work.start()
  expect(() => loop.waiting.shift()?.()).toThrow('one step failed')
  loop.waiting.shift()?.()
  expect(steps).toBe(3)
  work.start()
  expect(loop.waiting).toHaveLength(1)
})
