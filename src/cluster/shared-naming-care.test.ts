import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type Member } from '../core/cluster/court.test-support.ts'
import { LiveProcesses } from '../core/cluster/live-processes.ts'
import { silencesOf } from '../core/cluster/peer-silence.ts'
import { address, microtasks, ORDERS, orphansOf } from '../core/core.test-support.ts'
import type { Command } from '../core/decision.ts'
import { HealthClock } from '../core/naming/health-clock.ts'
import { Orphans } from '../core/naming/orphans.ts'
import type { InstancePlace } from '../core/naming/presence.ts'
import { setSwitch } from '../core/operator/set-switch.ts'
import { Refusal } from '../core/refusal.ts'
import { SharedNamingCare } from './shared-naming-care.ts'

const WHERE = address()
const SWEEP_MS = 250

/** A cluster of which one member judges by a care, on its own clock. */
class CaredWorld {
  readonly cluster = new Cluster()
  readonly judge: Member
  readonly peer: Member
  readonly care: SharedNamingCare
  readonly clock = new HealthClock(0, SWEEP_MS)
  readonly warnings: object[] = []
  readonly reports: unknown[] = []
  nowMs = 0
  isStoreAway = false
  #later: (() => void)[] = []

  constructor() {
    for (const port of [1, 2]) this.cluster.join(port)
    this.judge = this.cluster.judge()
    this.peer = this.cluster.others()[0]!
    // Only the care takes what is due on this server.
    this.judge.isFrozen = true
    this.judge.healthMs = 0
    const { state, liveness, id: self } = this.judge
    this.care = new SharedNamingCare({
      state,
      liveness,
      orphans: new Orphans({ owners: liveness.owners, isAlive: new LiveProcesses(state, '').has }),
      engine: { execute: (command) => this.#execute(command) },
      clock: this.clock,
      monotonicMs: () => this.nowMs,
      loop: { now: () => this.nowMs, soon: (run) => this.#later.push(run) },
      self,
      isMember: () => this.judge.hasLease,
      client: { ask: async (_member, _question, asked) => this.#answer(asked as never) as never },
      log: { warn: (facts) => this.warnings.push(facts) },
      report: (error) => this.reports.push(error),
      emptyServiceExpiryMs: 60_000,
      expiredMetadataTimeMs: 60_000,
    })
  }

  get isGone(): boolean {
    return this.judge.instance(WHERE) === undefined
  }

  async pass(ms: number, each: () => void = () => {}): Promise<void> {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs;) {
      this.nowMs += SWEEP_MS
      this.cluster.pass(SWEEP_MS)
      this.judge.healthMs = this.clock.at(this.nowMs)
      this.care.sweep()
      do {
        for (const run of this.#later.splice(0)) run()
        await microtasks()
      } while (this.#later.length > 0)
      each()
    }
  }

  #answer(places: readonly InstancePlace[]) {
    return this.peer.answers ? silencesOf(places, this.peer, this.peer.healthMs) : undefined
  }

  async #execute<T>(command: Command<T>): Promise<T> {
    await Promise.resolve()
    if (this.isStoreAway) throw new Refusal('store-unavailable', 'The store cannot be reached.')
    return this.cluster.execute(this.judge, command)
  }
}

let world: CaredWorld
beforeEach(async () => {
  world = new CaredWorld()
  await world.pass(30_000)
  world.cluster.register(WHERE)
})

describe('the care of a server that judges', () => {
  test('removes a dead instance in time, and its service a minute later', async () => {
    await world.pass(31_000)
    expect(world.isGone).toBe(true)
    expect(world.judge.liveness.counts).toMatchObject({ unhealthy: 1, removed: 1 })
    expect(world.care.figures()).toEqual({
      questions: 2,
      instancesAskedAbout: 2,
      unanswered: 0,
      restored: 0,
      suspects: 0,
      unansweringMembers: [],
    })
    await world.pass(58_000)
    await world.care.expireServices()
    expect(world.judge.state.service(ORDERS)).toBeDefined()
    await world.pass(3_000)
    world.judge.hasLease = false
    await world.care.expireServices()
    expect(world.judge.state.service(ORDERS)).toBeDefined()
    world.judge.hasLease = true
    await world.care.expireServices()
    expect(world.judge.state.service(ORDERS)).toBeUndefined()
  })

  test('keeps an instance that beats at the other one', async () => {
    await world.pass(90_000, () => world.cluster.beat(world.peer, WHERE))
    expect(world.judge.instance(WHERE)?.healthy).toBe(true)
    expect(world.care.figures().questions).toBeLessThanOrEqual(7)
  })

  test('names both servers once if the other one keeps its lease and does not answer', async () => {
    world.peer.answers = false
    await world.pass(90_000)
    expect(world.judge.instance(WHERE)?.healthy).toBe(true)
    expect(world.warnings).toEqual([{ server: world.judge.id, member: world.peer.id }])
    expect(world.care.figures().unansweringMembers).toEqual([world.peer.id])
    world.cluster.lose(world.peer)
    await world.pass(1_000)
    expect(world.care.figures().unansweringMembers).toEqual([])
    await world.pass(30_000)
    expect(world.isGone).toBe(true)
  })

  test('goes on when the store is there again', async () => {
    world.isStoreAway = true
    await world.pass(60_000)
    expect([world.judge.instance(WHERE)?.healthy, world.reports]).toEqual([true, []])
    world.isStoreAway = false
    await world.pass(2_000)
    expect(world.isGone).toBe(true)
  })

  test('judges nothing while writes are switched off, and counts no silence meanwhile', async () => {
    world.cluster.execute(world.judge, setSwitch('overriddenServerStatus', 'READ_ONLY', false))
    await world.pass(60_000)
    expect(world.judge.instance(WHERE)?.healthy).toBe(true)
  })

  test('brings back what was removed although it was heard', async () => {
    await world.pass(10_000)
    world.cluster.beat(world.judge, WHERE)
    const { serial } = world.judge.instance(WHERE)!.record
    const about = { serviceKey: ORDERS, address: WHERE, serial, stamp: 0 }
    world.cluster.apply([{ kind: 'instance-removed', ...about, reason: 'expired' }])
    await world.pass(500)
    expect(world.isGone).toBe(false)
    expect(world.care.figures().restored).toBe(1)
  })

  test('gives everything its full time after a reload', async () => {
    await world.pass(14_000)
    world.care.reloaded()
    await world.pass(14_000)
    expect(world.judge.instance(WHERE)?.healthy).toBe(true)
  })
})

test('what is loaded counts as learned, and not as heard', () => {
  const cluster = new Cluster()
  const member = cluster.join(1)
  cluster.register(WHERE)
  const { state, liveness, id: self } = member
  const orphans = orphansOf(liveness)
  const parts = { state, liveness, orphans, self, clock: new HealthClock(0, SWEEP_MS), monotonicMs: () => 0 }
  const never = () => {
    throw new Error('not called')
  }
  const options = { engine: { execute: never }, loop: { now: never, soon: never }, client: { ask: never } }
  const settings = { emptyServiceExpiryMs: 0, expiredMetadataTimeMs: 0 }
  const watch = { log: { warn: never }, report: never, isMember: () => true }
  const care = new SharedNamingCare({ ...parts, ...options, ...settings, ...watch })
  expect(care.judges(ORDERS)).toBe(true)
  expect(silencesOf([{ serviceKey: ORDERS, address: WHERE }], member, 10)).toEqual([
    { kind: 'learned', agoMs: 10 },
  ])
})
