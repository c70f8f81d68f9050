import { expect, test } from 'vitest'
import { Alarms } from './alarms.ts'

function startAlarms() {
  const now = { ms: 0, delay: 0, refused: 0 }
  const logged: object[] = []
  const write = (facts: object) => void logged.push(facts)
  const alarms = new Alarms({
    log: { info: write, warn: write, error: write },
    monotonicMs: () => now.ms,
    loopDelay: () => now.delay,
    refusedPolls: () => now.refused,
    maxHeldPolls: 5,
  })
  const pass = (ms: number) => {
    for (const end = now.ms + ms; now.ms < end; now.ms += 1_000) alarms.tick()
  }
  return { now, logged, pass }
}

test('nothing is logged while no limit is reached', () => {
  const { now, logged, pass } = startAlarms()
  now.delay = 0.9
  pass(120_000)
  expect(logged).toEqual([])
})

test('a reached limit is logged once a minute, with the number of refusals since then', () => {
  const { now, logged, pass } = startAlarms()
  now.refused = 3
  pass(30_000)
  now.refused = 10
  pass(40_000)
  expect(logged).toEqual([
    { refused: 3, maxHeldPolls: 5 },
    { refused: 7, maxHeldPolls: 5 },
  ])
})

test('a blocked event loop is logged once a minute', () => {
  const { now, logged, pass } = startAlarms()
  now.delay = 1.5
  pass(61_000)
  expect(logged).toEqual([{ delayMs: 1_500 }, { delayMs: 1_500 }])
})
