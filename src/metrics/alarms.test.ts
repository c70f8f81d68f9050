import { expect, test } from 'vitest'
import { Alarms } from './alarms.ts'

function startAlarms() {
  const now = { ms: 0, delay: 0, refused: 0, forgotten: 0 }
  const logged: object[] = []
  const write = (facts: object) => void logged.push(facts)
  const alarms = new Alarms({
    log: { info: write, warn: write, error: write },
    monotonicMs: () => now.ms,
    loopDelay: () => now.delay,
    refusedPolls: () => now.refused,
    maxHeldPolls: 5,
    forgotten: () => now.forgotten,
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

test.each([
  ['refused', { maxHeldPolls: 5 }, 'refused'],
  ['forgotten', { most: 20_000 }, 'instances'],
] as const)(
  'a reached limit is logged once a minute, with its count since then: %s',
  (count, limit, name) => {
    const { now, logged, pass } = startAlarms()
    now[count] = 3
    pass(30_000)
    now[count] = 10
    pass(40_000)
    expect(logged).toEqual([
      { [name]: 3, ...limit },
      { [name]: 7, ...limit },
    ])
  },
)

test('a blocked event loop is logged once a minute', () => {
  const { now, logged, pass } = startAlarms()
  now.delay = 1.5
  pass(61_000)
  expect(logged).toEqual([{ delayMs: 1_500 }, { delayMs: 1_500 }])
})
