import { beforeEach, expect, test } from 'vitest'
import { configKey } from './config/config-item.ts'
import { publishConfig } from './config/publish-config.ts'
import { at, microtasks, publishing, registration, watched } from './core.test-support.ts'
import { Follower } from './follower.ts'
import type { Unit, UnitResult } from './ports.ts'
import { Refusal } from './refusal.ts'
import { SharedEngine } from './shared-engine.ts'
import { Stamps } from './stamps.ts'
import { State } from './state.ts'

/** A commit that the test answers. */
interface Sent {
  readonly units: readonly Unit[]
  readonly withinMs: number | undefined
  answer(kind: 'held' | 'conflict'): void
  refuse(text: string): void
  fail(): void
}

let nowMs = 0
let sent: Sent[] = []
let deferred: (() => void)[] = []
let engine: SharedEngine
let reports: string[] = []

beforeEach(() => {
  nowMs = 0
  sent = []
  deferred = []
  reports = []
  const stamps = new Stamps()
  const clock = () => ({ ...at(0), stamp: stamps.next(at(0).wallMs) })
  const options = { clock, stamps, feed: { publishChanges: () => {} } }
  engine = new SharedEngine({
    follower: new Follower(new State(at(0).wallMs), options),
    store: { mostChanges: 20, commit },
    clock,
    loop: { now: () => nowMs, soon: (run) => deferred.push(run) },
    report: (error, what) => reports.push(`${what}: ${String(error)}`),
    answerMs: 1_900,
  })
})

function commit(units: readonly Unit[], _decidedAt: number, withinMs?: number) {
  return new Promise<readonly UnitResult[]>((resolve, reject) => {
    const all = (result: UnitResult) => resolve(units.map(() => result))
    sent.push({
      units,
      withinMs,
      answer: (kind) => all({ kind }),
      refuse: (text) => all({ kind: 'refused', error: new Refusal('store-unavailable', text) }),
      fail: () => reject(new Refusal('store-unavailable', 'no store')),
    })
  })
}

/** Runs what is due. */
async function run(): Promise<void> {
  await microtasks()
  while (deferred.length > 0) {
    for (const one of deferred.splice(0)) one()
    await microtasks()
  }
}

const publish = (dataId: string) =>
  watched(engine.execute(publishConfig(publishing('x', { key: configKey('public', 'G', dataId) }))))
const textOf = ({ error }: { error?: unknown }) => error instanceof Refusal && error.message

test('a commit has the time that the oldest command has left', async () => {
  publish('a')
  await run()
  expect(sent[0]?.withinMs).toBe(1_900)
  nowMs = 1_000
  publish('b')
  nowMs = 1_300
  sent[0]!.answer('held')
  publish('c')
  await run()
  expect(sent[1]?.units).toHaveLength(2)
  expect(sent[1]?.withinMs).toBe(1_600)
})

test('a command that has waited so long that no commit can be in time is refused, without being sent', async () => {
  publish('a')
  await run()
  const late = publish('b')
  nowMs = 1_401
  const inTime = publish('c')
  sent[0]!.answer('held')
  await run()
  expect(textOf(late)).toMatch(/too slow: the change was not made/)
  expect(inTime.waits).toBe(true)
  expect(sent[1]).toMatchObject({ units: [{}], withinMs: 1_900 })
})

test('a command that conflicts again and again is refused in the end', async () => {
  const outcome = publish('a')
  for (let tries = 0; outcome.waits && tries < 100; tries++) {
    await run()
    nowMs += 100
    sent.at(-1)!.answer('conflict')
    await run()
  }
  expect(textOf(outcome)).toMatch(/not made/)
  expect(nowMs).toBeLessThanOrEqual(1_900)
})

test.each(['fail', 'refuse'] as const)(
  'what waits behind a commit that the store %ss is refused with it',
  async (how) => {
    const first = publish('a')
    await run()
    const behind = publish('b')
    sent[0]![how]('whether it was made is not known')
    await run()
    expect(textOf(first)).toMatch(how === 'fail' ? 'no store' : /is not known/)
    expect(textOf(behind)).toMatch(/was not made, try again/)
    expect(sent).toHaveLength(1)
    const later = publish('c')
    await run()
    sent[1]!.answer('held')
    await run()
    expect(later.value).toBe(true)
  },
)

test('a change that nobody waits for may wait for long', async () => {
  const { serviceKey, address } = registration()
  publish('a')
  await run()
  const change = { kind: 'instance-removed' as const, serviceKey, address, serial: 1, stamp: 1 }
  engine.applyBehind([{ ...change, reason: 'expired' }])
  nowMs = 1_900
  sent[0]!.answer('held')
  await run()
  expect(sent[1]).toMatchObject({ withinMs: 1_900 })
  sent[1]!.answer('held')
  await run()
  expect(reports).toEqual([])
  expect(engine.backlog).toEqual({ behind: 0, waiting: 0 })
})
