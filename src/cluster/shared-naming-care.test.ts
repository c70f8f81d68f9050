import { beforeEach, describe, expect, test } from 'vitest'
import { Cluster, type Member } from '../core/cluster/judging/silence-vote.test-support.ts'
import { LiveProcesses } from '../core/cluster/members/live-processes.ts'
import { silencesOf } from '../core/cluster/judging/peer-silence.ts'
import { removeOrphan } from '../core/cluster/judging/confirm-silence.ts'
import { address, microtasks, ORDERS, registration } from '../core/core.test-support.ts'
import type { Command } from '../core/decisions/decision.ts'
import { Draft } from '../core/decisions/draft.ts'
import type { Publisher } from '../core/naming/state/instance.ts'
import { connectionOf, connectionPublisher } from '../core/naming/state/connection-publisher.ts'
import { HealthClock } from '../core/naming/liveness/health-clock.ts'
import { modifyInstance } from '../core/naming/commands/instance-commands.ts'
import type { InstancePlace } from '../core/naming/state/presence.ts'
import { registerInstance } from '../core/naming/commands/register-instance.ts'
import { setSwitch } from '../core/operator/set-switch.ts'
import { ReadLog } from '../core/decisions/reads.ts'
import { Refusal } from '../core/refusal.ts'
import { SharedNamingCare } from './shared-naming-care.ts'

const WHERE = address()
const SWEEP_MS = 250
const PATCH = { weight: 2, enabled: undefined, metadata: undefined, maxMetadataBytes: 100 }

/** A cluster with one member that judges by a care, on its own clock. */
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
  failsToAsk = false
  #later: (() => void)[] = []

  constructor() {
    for (const port of [1, 2]) this.cluster.join(port)
    this.judge = this.cluster.judge()
    this.peer = this.cluster.others()[0]!
    // Only the care removes instances on this server.
    this.judge.isFrozen = true
    this.judge.healthMs = 0
    const { state, liveness, id: self } = this.judge
    this.care = new SharedNamingCare({
      state,
      liveness,
      isAlive: new LiveProcesses(state, '').has,
      engine: { execute: (command) => this.#execute(command) },
      clock: this.clock,
      monotonicMs: () => this.nowMs,
      loop: { now: () => this.nowMs, soon: (run) => this.#later.push(run) },
      self,
      isMember: () => this.judge.hasLease,
      client: {
        ask: async (_member, _question, asked) => {
          if (this.failsToAsk) throw new Error('cannot ask')
          return this.#answer(asked as never) as never
        },
      },
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

  test('judges again after a round in which something was thrown', async () => {
    world.failsToAsk = true
    await world.pass(40_000)
    expect(world.isGone).toBe(false)
    expect(String(world.reports[0])).toMatch(/cannot ask/)
    world.failsToAsk = false
    await world.pass(31_000)
    expect(world.isGone).toBe(true)
    expect(world.care.figures().suspects).toBe(0)
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

  test('continues when the store is there again', async () => {
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

  test('brings back an instance that was removed although it had beaten', async () => {
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

test('a loaded instance counts as learned, and not as a beat', () => {
  const cluster = new Cluster()
  const member = cluster.join(1)
  cluster.register(WHERE)
  const { state, liveness, id: self } = member
  const isAlive = () => true
  const parts = { state, liveness, isAlive, self, clock: new HealthClock(0, SWEEP_MS), monotonicMs: () => 0 }
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

describe('instances of the connections of a server', () => {
  const [HELD, OTHER] = [address({ port: 1_000 }), address({ port: 1_001 })]
  const publish = (process: string, where = HELD): void => {
    const publisher = connectionPublisher({ process, connectionId: '1' })
    const isGone = (other: Publisher): boolean =>
      world.judge.liveness.processes.isGone(connectionOf(other)?.process ?? '')
    world.cluster.execute(world.peer, registerInstance(registration({ publisher, isGone, address: where })))
  }
  const has = (where = HELD): boolean => world.judge.instance(where)?.healthy === true

  /** A third member with two instances is lost. */
  const loseThird = async (): Promise<void> => {
    const third = world.cluster.join(3)
    expect(world.cluster.judge()).toBe(world.judge)
    publish('process of 3')
    publish('process of 3', OTHER)
    await world.pass(60_000)
    expect(has()).toBe(true)
    world.cluster.lose(third)
  }

  test('stay for 40 s after it was lost, and then leave, unless another has them', async () => {
    await loseThird()
    await world.pass(20_000)
    publish(world.peer.facts.process, OTHER)
    await world.pass(20_000)
    expect([has(), has(OTHER)]).toEqual([true, true])
    await world.pass(1_000)
    expect([has(), has(OTHER)]).toEqual([false, true])
    expect(world.judge.liveness.processes.counts.removed).toBe(1)
    await world.pass(60_000)
    expect(has(OTHER)).toBe(true)
  })

  test('stay if the same process comes back, and not if another one takes its place', async () => {
    await loseThird()
    await world.pass(20_000)
    world.cluster.join(3)
    await world.pass(60_000)
    expect(has()).toBe(true)
    world.cluster.join(3, 'another process')
    await world.pass(39_000)
    expect(has()).toBe(true)
    await world.pass(2_000)
    expect(has()).toBe(false)
  })

  test('stay for 40 s from when the lease of their judge is certain, its store is there, and it has all news', async () => {
    await loseThird()
    await world.pass(30_000)
    world.judge.hasLease = false
    await world.pass(60_000)
    world.judge.hasLease = true
    await world.pass(30_000)
    world.care.reloaded()
    await world.pass(39_000)
    expect(has()).toBe(true)
    world.isStoreAway = true
    await world.pass(10_000)
    expect(has()).toBe(true)
    world.isStoreAway = false
    await world.pass(2_000)
    expect(has()).toBe(false)
    expect(world.reports).toEqual([])
  })

  test('are removed by the judge of their service, and by nobody else', async () => {
    const third = world.cluster.join(3)
    const services = Array.from({ length: 20 }, (_, index) => ({
      namespaceId: 'public',
      groupedName: `DEFAULT_GROUP@@service-${index}`,
    }))
    const publisher = connectionPublisher({ process: 'process of 3', connectionId: '1' })
    for (const serviceKey of services)
      world.cluster.execute(world.peer, registerInstance(registration({ publisher, serviceKey })))
    world.cluster.lose(third)
    await world.pass(45_000)
    const left = services.filter((key) => world.judge.state.instanceCount(key) > 0)
    expect(left.length).toBeGreaterThan(0)
    expect(left.length).toBeLessThan(services.length)
    expect(left.every((key) => world.cluster.judge(key) === world.peer)).toBe(true)
  })

  test('are not removed by a judge whose commit is delayed until their server is back', () => {
    publish('process of 3')
    const instance = world.judge.instance(HELD)!
    const liveness = { processes: { isDue: () => true } }
    const judge = { self: world.judge.id, isMember: () => true, liveness }
    const remove = removeOrphan(instance, judge)
    world.cluster.join(3)
    expect(world.cluster.execute(world.judge, remove)).toBe(false)
    world.cluster.lose(world.cluster.members.at(-1)!)
    expect(world.cluster.execute(world.judge, removeOrphan(instance, { ...judge, self: 'x' }))).toBe(false)
    const read = new ReadLog()
    remove.decide(new Draft(world.judge.state, read), world.judge.now)
    expect(read.reads.map(({ of }) => of)).toEqual(expect.arrayContaining(['instance', 'records']))
    publish('process of 3')
    world.cluster.execute(
      world.judge,
      modifyInstance({ serviceKey: ORDERS, address: HELD, ephemeral: undefined }, PATCH),
    )
    expect(world.cluster.execute(world.judge, remove)).toBe(false)
    const again = removeOrphan(world.judge.instance(HELD)!, judge)
    expect(world.cluster.execute(world.judge, again)).toBe(true)
    expect(has()).toBe(false)
  })
})
