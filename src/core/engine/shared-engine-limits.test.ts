import { beforeEach, describe, expect, test } from 'vitest'
import { configKey } from '../config/state/config-item.ts'
import { publishConfig } from '../config/commands/publish-config.ts'
import { at, microtasks, publishing, registration, watched } from '../core.test-support.ts'
import type { Change } from '../decisions/changes.ts'
import { Follower } from './follower.ts'
import { LEAST_COMMIT_MS, type Unit, type UnitResult } from './ports.ts'
import { Refusal } from '../refusal.ts'
import { SharedEngine } from './shared-engine.ts'
import { Stamps } from '../decisions/stamps.ts'
import { State } from './state.ts'

/** A commit that the test answers. */
interface Sent {
  readonly units: readonly Unit[]
  readonly withinMs: number | undefined
  answer(kind: 'held' | 'conflict'): void
  /** Certainly nothing was written. */
  miss(): void
  refuse(text: string): void
  fail(): void
}

let nowMs = 0
let sent: Sent[] = []
let deferred: (() => void)[] = []
let timers: { readonly atMs: number; readonly run: () => void }[] = []
let engine: SharedEngine
let reports: string[] = []
let beforehandMs: (unit: Unit) => number = () => 0

beforeEach(() => {
  nowMs = 0
  sent = []
  deferred = []
  timers = []
  reports = []
  beforehandMs = () => 0
  const stamps = new Stamps()
  const clock = () => ({ ...at(0), stamp: stamps.next(at(0).wallMs) })
  const options = { clock, stamps, feed: { publishChanges: () => {} } }
  engine = new SharedEngine({
    follower: new Follower(new State(at(0).wallMs), options),
    store: { mostChanges: 20, commit, beforehandMs: (unit) => beforehandMs(unit) },
    clock,
    loop: {
      now: () => nowMs,
      soon: (run) => deferred.push(run),
      after: (ms, run) => timers.push({ atMs: nowMs + ms, run }),
    },
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
      miss: () => all({ kind: 'unwritten', error: new Refusal('store-unavailable', 'not made') }),
      refuse: (text) => all({ kind: 'refused', error: new Refusal('store-unavailable', text) }),
      fail: () => reject(new Refusal('store-unavailable', 'no store')),
    })
  })
}

/** Runs everything due now. */
async function run(): Promise<void> {
  await microtasks()
  while (deferred.length > 0) {
    for (const one of deferred.splice(0)) one()
    await microtasks()
  }
}

/** Lets time pass until then, and runs everything due. */
async function passTo(ms: number): Promise<void> {
  await run()
  for (;;) {
    const [next] = timers.toSorted((a, b) => a.atMs - b.atMs)
    if (next === undefined || next.atMs > ms) break
    timers = timers.filter((timer) => timer !== next)
    nowMs = Math.max(nowMs, next.atMs)
    next.run()
    await run()
  }
  nowMs = ms
}

const isOfHeavy = (change: Change): boolean =>
  change.kind === 'config-published' && change.item.key.dataId === 'heavy'
const publish = (dataId: string) =>
  watched(engine.execute(publishConfig(publishing('x', { key: configKey('public', 'G', dataId) }))))
const textOf = ({ error }: { error?: unknown }) => error instanceof Refusal && error.message

test('a commit has the time that the youngest command has left', async () => {
  publish('a')
  await run()
  expect(sent[0]?.withinMs).toBe(1_900)
  await passTo(1_000)
  publish('b')
  await passTo(1_300)
  publish('c')
  sent[0]!.answer('held')
  await passTo(1_320)
  expect(sent[1]?.units).toHaveLength(2)
  expect(sent[1]?.withinMs).toBeGreaterThanOrEqual(1_880)
})

test('a command that has waited so long that no commit can be in time is refused, without being sent', async () => {
  publish('a')
  await run()
  const late = publish('b')
  nowMs = 1_900 - LEAST_COMMIT_MS
  const justInTime = publish('c')
  nowMs++
  sent[0]!.answer('held')
  await passTo(nowMs + 20)
  expect(textOf(late)).toMatch(/too slow: the change was not made/)
  expect(justInTime.waits).toBe(true)
  expect(sent[1]).toMatchObject({ units: [{}] })
})

test('a command that conflicts again and again is refused in the end', async () => {
  const outcome = publish('a')
  for (let tries = 0; outcome.waits && tries < 100; tries++) {
    await passTo(nowMs + 100)
    sent.at(-1)!.answer('conflict')
    await run()
  }
  expect(textOf(outcome)).toMatch(/not made/)
  expect(nowMs).toBeLessThanOrEqual(1_900)
})

describe('each command is refused for its own time only', () => {
  test('a commit that takes longer than an old command may is answered to the young ones', async () => {
    publish('first')
    await run()
    const old = publish('old')
    await passTo(1_200)
    const young = publish('young')
    sent[0]!.answer('held')
    await passTo(1_250)
    expect(sent[1]?.units).toHaveLength(2)
    await passTo(2_000)
    expect(textOf(old)).toMatch(/whether the change was made is not known/)
    expect(young.waits).toBe(true)
    sent[1]!.answer('held')
    await run()
    expect(young.value).toBe(true)
  })

  test('a command that was given up is not decided again after a conflict', async () => {
    publish('a')
    await passTo(2_000)
    sent[0]!.answer('conflict')
    await passTo(4_000)
    expect(sent).toHaveLength(1)
  })

  test('a command that waits behind a slow commit is answered in time', async () => {
    publish('first')
    await passTo(10)
    const behind = publish('behind')
    await passTo(1_909)
    expect(behind.waits).toBe(true)
    await passTo(1_920)
    expect(textOf(behind)).toMatch(/was not made/)
  })

  test.each(['fail', 'refuse'] as const)(
    'what waits behind a commit that the store %ss has a commit of its own',
    async (how) => {
      const first = publish('a')
      await run()
      const behind = publish('b')
      sent[0]![how]('whether it was made is not known')
      await passTo(20)
      expect(textOf(first)).toMatch(how === 'fail' ? 'no store' : /is not known/)
      expect(behind.waits).toBe(true)
      sent[1]!.answer('held')
      await run()
      expect(behind.value).toBe(true)
    },
  )

  test('a unit that was certainly not written is tried again while its time lasts, after a pause', async () => {
    const outcome = publish('a')
    await passTo(0)
    sent[0]!.miss()
    await run()
    expect(sent).toHaveLength(1)
    await passTo(20)
    expect(sent).toHaveLength(2)
    sent[1]!.answer('held')
    await run()
    expect(outcome.value).toBe(true)
  })

  test('a unit that was certainly not written is refused when its time is over', async () => {
    const outcome = publish('a')
    for (let tries = 0; outcome.waits && tries < 100; tries++) {
      await passTo(nowMs + 50)
      sent.at(-1)!.miss()
      await run()
    }
    expect(textOf(outcome)).toMatch(/not made/)
    expect(nowMs).toBeGreaterThanOrEqual(1_900 - LEAST_COMMIT_MS)
    expect(nowMs).toBeLessThanOrEqual(1_900)
  })
})

test('a change that nobody waits for may wait for long', async () => {
  const { serviceKey, address } = registration()
  publish('a')
  await run()
  const change = { kind: 'instance-removed' as const, serviceKey, address, serial: 1, stamp: 1 }
  engine.applyBehind([{ ...change, reason: 'expired' }])
  await passTo(1_900)
  sent[0]!.answer('held')
  await passTo(1_920)
  expect(sent[1]).toMatchObject({ withinMs: 1_900 })
  sent[1]!.answer('held')
  await run()
  expect(reports).toEqual([])
  expect(engine.backlog).toEqual({ behind: 0, waiting: 0 })
})

describe('a unit with large contents', () => {
  beforeEach(() => void (beforehandMs = ({ changes }) => (changes.some(isOfHeavy) ? 5_000 : 0)))

  test('is committed beside others, which do not wait for it, and has more time', async () => {
    const heavy = publish('heavy')
    const light = publish('light')
    await run()
    expect(sent.map(({ units, withinMs }) => [units.length, withinMs])).toEqual([
      [1, 6_900],
      [1, 1_900],
    ])
    sent[1]!.answer('held')
    await run()
    expect(light.waits).toBe(false)
    const next = publish('light')
    await passTo(5_000)
    sent[2]!.answer('held')
    await run()
    expect([heavy.waits, next.waits]).toEqual([true, false])
    sent[0]!.answer('held')
    await run()
    expect(heavy.error).toBeUndefined()
    expect(heavy.waits).toBe(false)
  })

  test('is decided again after a conflict, and refused once its own time is over', async () => {
    const heavy = publish('heavy')
    await run()
    sent[0]!.answer('conflict')
    await run()
    expect(sent).toHaveLength(2)
    await passTo(6_800)
    expect(heavy.waits).toBe(true)
    await passTo(7_000)
    expect(textOf(heavy)).toContain('not known')
  })

  test('is tried again after a pause if the store cannot be reached', async () => {
    const heavy = publish('heavy')
    await run()
    sent[0]!.miss()
    await run()
    expect(sent).toHaveLength(1)
    await passTo(100)
    expect(sent).toHaveLength(2)
    sent[1]!.answer('held')
    await run()
    expect(heavy.waits).toBe(false)
  })

  test('is waited for when the engine closes', async () => {
    publish('heavy')
    await run()
    const closing = watched(engine.close())
    await run()
    expect(closing.waits).toBe(true)
    sent[0]!.answer('held')
    await run()
    expect(closing.waits).toBe(false)
  })
})
