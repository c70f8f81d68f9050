import { expect, test } from 'vitest'
import { Alarms } from './alarms.ts'

function startAlarms() {
  const now = { ms: 0, delay: 0, refused: 0 }
  const told: object[] = []
  const tell = (facts: object) => void told.push(facts)
  const alarms = new Alarms({
    log: { info: tell, warn: tell, error: tell },
    monotonicMs: () => now.ms,
    loopDelay: () => now.delay,
    refusedPolls: () => now.refused,
    maxHeldPolls: 5,
  })
  const pass = (ms: number) => {
    for (const end = now.ms + ms; now.ms < end; now.ms += 1_000) alarms.tick()
  }
  return { now, told, pass }
}

test('nothing is told while nothing is wrong', () => {
  const { now, told, pass } = startAlarms()
  now.delay = 0.9
  pass(120_000)
  expect(told).toEqual([])
})

test('a reached limit is told once a minute, with how often it was met since', () => {
  const { now, told, pass } = startAlarms()
  now.refused = 3
  pass(30_000)
  now.refused = 10
  pass(40_000)
  expect(told).toEqual([
    { refused: 3, maxHeldPolls: 5 },
    { refused: 7, maxHeldPolls: 5 },
  ])
})

test('an event loop that stood still is told once a minute', () => {
  const { now, told, pass } = startAlarms()
  now.delay = 1.5
  pass(61_000)
  expect(told).toEqual([{ delayMs: 1_500 }, { delayMs: 1_500 }])
})
