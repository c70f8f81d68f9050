import { array, assert, constantFrom, integer, property, record } from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { address, at, ORDERS } from '../../core.test-support.ts'
import { setSwitch } from '../../operator/set-switch.ts'
import { Cluster, type Member } from './silence-vote.test-support.ts'
import type { VoteRound } from './silence-vote.ts'

const WHERE = address()
/** Timeouts of an instance that asks for nothing else. */
const UNHEALTHY_MS = 15_000
const REMOVE_MS = 30_000

let cluster: Cluster
beforeEach(() => {
  cluster = new Cluster()
  for (const port of [1, 2, 3]) cluster.join(port)
  // The members have started long ago.
  cluster.pass(100_000)
  cluster.register(WHERE)
})

/** The health of the instance on every server: `gone`, or whether it is healthy. */
const health = (): unknown[] => cluster.members.map((member) => member.instance(WHERE)?.healthy ?? 'gone')
const isGone = (): boolean => cluster.members[0]!.instance(WHERE) === undefined
const other = (): Member => cluster.others()[0]!

/** The round that a judge opens when this much time has passed since its last look. */
function openRound(judge: Member, ms: number): VoteRound {
  judge.healthMs += ms
  judge.vote.take(judge.healthMs, Infinity)
  const round = judge.vote.open(judge.healthMs)
  if (round === undefined) throw new Error('nothing is due')
  return round
}

describe('an instance that beats', () => {
  test('at a random one of the servers is never unhealthy or removed', () => {
    assert(
      property(
        record({ everyMs: integer({ min: 250, max: 14_000 }), seed: integer() }),
        ({ everyMs, seed }) => {
          const world = new Cluster()
          for (const port of [1, 2, 3]) world.join(port)
          world.pass(40_000)
          world.register(WHERE)
          let dueMs = world.nowMs
          let random = seed
          world.pass(120_000, () => {
            if (world.nowMs < dueMs) return
            dueMs += everyMs
            random = Math.imul(random ^ (random >>> 15), 0x2c1b3c6d) + 12345
            world.beat(world.members[(random >>> 16) % 3]!, WHERE)
          })
          const seen = world.log.filter(
            ({ kind }) => kind === 'instance-removed' || kind === 'instance-health-changed',
          )
          expect(seen).toEqual([])
        },
      ),
      { numRuns: 30 },
    )
  })

  test('at a server that does not judge it is asked about once in its timeout', () => {
    cluster.pass(60_000, () => cluster.beat(other(), WHERE))
    expect(health()).toEqual([true, true, true])
    expect(cluster.others().map(({ asked }) => asked)).toEqual([4, 4])
  })

  test('while the others answer, or while its silence is carried out, is not removed', () => {
    for (const beatsBeforeClose of [true, false]) {
      const judge = cluster.judge()
      judge.isFrozen = true
      cluster.pass(REMOVE_MS)
      const round = openRound(judge, REMOVE_MS)
      for (const id of round.peers.keys())
        judge.vote.answered(id, [{ kind: 'heard', agoMs: REMOVE_MS }], judge.healthMs)
      if (beatsBeforeClose) cluster.beat(judge, WHERE)
      const [confirmed] = judge.vote.close(judge.healthMs)
      if (beatsBeforeClose) expect(confirmed).toBeUndefined()
      else {
        cluster.beat(judge, WHERE)
        expect(cluster.execute(judge, confirmed!.command)).toBe(false)
        judge.vote.settled(confirmed!, false, judge.healthMs)
      }
      expect([isGone(), judge.vote.size]).toEqual([false, 0])
    }
  })
})

describe('a dead instance', () => {
  test('is unhealthy and then gone in time, whichever server received its last beat', () => {
    for (const member of cluster.members) {
      cluster.register(WHERE)
      cluster.pass(4_000)
      cluster.beat(member, WHERE)
      const unhealthyMs = cluster.passUntil(() => cluster.members[0]!.instance(WHERE)?.healthy === false)
      const goneMs = unhealthyMs + cluster.passUntil(isGone)
      expect(unhealthyMs).toBeGreaterThanOrEqual(UNHEALTHY_MS)
      expect(unhealthyMs).toBeLessThanOrEqual(UNHEALTHY_MS + 1_000)
      expect(goneMs).toBeGreaterThanOrEqual(REMOVE_MS)
      expect(goneMs).toBeLessThanOrEqual(REMOVE_MS + 1_000)
    }
  })

  test('is removed for its silence, once', () => {
    cluster.pass(60_000)
    expect(cluster.log.filter(({ kind }) => kind === 'instance-removed')).toMatchObject([
      { reason: 'expired' },
    ])
    expect(cluster.judge().vote.size).toBe(0)
  })

  test('is kept while its service is not checked, and has its full time afterwards', () => {
    cluster.execute(other(), setSwitch('healthCheckEnabled', 'false', false))
    cluster.pass(60_000)
    cluster.execute(other(), setSwitch('healthCheckEnabled', 'true', false))
    expect(health()).toEqual([true, true, true])
    const ms = cluster.passUntil(isGone)
    expect(ms).toBeGreaterThan(REMOVE_MS - 2_000)
    expect(ms).toBeLessThan(REMOVE_MS + 3_000)
  })
})

describe('a member that does not answer', () => {
  test('delays removals until it is lost; then the timeouts count from the loss', () => {
    const silent = other()
    silent.answers = false
    cluster.pass(60_000)
    expect(health()).toEqual([true, true, true])
    cluster.lose(silent)
    expect(cluster.passUntil(isGone)).toBeGreaterThanOrEqual(REMOVE_MS)
    expect(cluster.nowMs).toBeLessThanOrEqual(160_000 + REMOVE_MS + 1_000)
  })

  test('does not delay that others refute', () => {
    const [silent, heard] = cluster.others()
    silent!.answers = false
    cluster.pass(60_000, () => cluster.beat(heard!, WHERE))
    expect(cluster.judge().vote.size).toBe(0)
    expect(health()).toEqual([true, true, true])
  })

  test('answers for the beats that it received as soon as it answers again', () => {
    const silent = other()
    silent.answers = false
    cluster.pass(60_000, () => cluster.beat(silent, WHERE))
    silent.answers = true
    cluster.pass(30_000, () => cluster.beat(silent, WHERE))
    expect(health()).toEqual([true, true, true])
  })
})

describe('members that come and go', () => {
  test('a lost member may have received a beat: nothing is removed for the whole timeout after its loss', () => {
    const lost = other()
    cluster.pass(29_000, () => cluster.beat(lost, WHERE))
    cluster.lose(lost)
    cluster.pass(REMOVE_MS - 1_000)
    expect(isGone()).toBe(false)
    cluster.pass(2_000)
    expect(isGone()).toBe(true)
  })

  test('a new judge without a beat of an instance asks the members that have one', () => {
    const before = cluster.judge()
    let port = 4
    while (cluster.judge() === before) cluster.join(port++)
    const old = cluster.members[0]!
    cluster.pass(100_000, () => cluster.beat(old, WHERE))
    expect(cluster.log.some(({ kind }) => kind === 'instance-removed')).toBe(false)
    expect(cluster.passUntil(isGone)).toBeLessThanOrEqual(REMOVE_MS + 1_000)
  })

  test('a member that restarts in its old place counts as lost', () => {
    const port = Number(other().id.split(':')[1])
    cluster.pass(20_000, () => cluster.beat(other(), WHERE))
    cluster.join(port, 'another process')
    cluster.pass(REMOVE_MS - 1_000)
    expect(isGone()).toBe(false)
    cluster.pass(2_000)
    expect(isGone()).toBe(true)
  })

  test('a judge that restarts gives everything its full time', () => {
    const port = Number(cluster.judge().id.split(':')[1])
    cluster.pass(14_000)
    cluster.join(port, 'another process')
    cluster.pass(UNHEALTHY_MS - 500)
    expect(health()).toEqual([true, true, true])
    expect(cluster.passUntil(isGone)).toBeLessThanOrEqual(REMOVE_MS - UNHEALTHY_MS + 2_000)
  })

  test('a member that leaves and comes back between two looks counts as lost', () => {
    const away = other()
    cluster.pass(14_500)
    const saved = cluster.log.findLast((change) => change.kind === 'record-saved' && change.id === away.id)!
    cluster.lose(away, false)
    cluster.apply([saved])
    cluster.pass(UNHEALTHY_MS - 500)
    expect(health()).toEqual([true, true, true])
  })

  test('a server without news of the members gives everything its full time', () => {
    cluster.pass(14_000)
    cluster.judge().vote.missedNews(cluster.judge().healthMs)
    cluster.pass(UNHEALTHY_MS - 500)
    expect(health()).toEqual([true, true, true])
  })
})

describe('a judge whose lease is not certain', () => {
  test('judges nothing, and continues when it is certain again', () => {
    cluster.judge().hasLease = false
    cluster.pass(60_000)
    expect(health()).toEqual([true, true, true])
    cluster.judge().hasLease = true
    cluster.pass(1_000)
    expect(isGone()).toBe(true)
  })

  test('does not carry out its earlier decision', () => {
    const judge = cluster.judge()
    judge.isFrozen = true
    cluster.pass(REMOVE_MS + 1_000)
    const round = openRound(judge, REMOVE_MS + 1_000)
    for (const id of round.peers.keys())
      judge.vote.answered(id, [{ kind: 'learned', agoMs: 100_000 }], judge.healthMs)
    const [confirmed] = judge.vote.close(judge.healthMs)
    const decide = (later = 0) => confirmed!.command.decide(judge.state, at(judge.healthMs + later))
    expect(decide().changes).toHaveLength(1)
    expect(decide(10_000).changes).toEqual([])
    judge.hasLease = false
    expect(decide().changes).toEqual([])
    judge.hasLease = true
    cluster.join(9)
    expect(decide().changes).toEqual([])
  })

  test('was frozen: it has not lost the time in which others received beats', () => {
    const judge = cluster.judge()
    judge.isFrozen = true
    cluster.pass(40_000, () => cluster.beat(other(), WHERE))
    judge.isFrozen = false
    cluster.pass(40_000, () => cluster.beat(other(), WHERE))
    expect(health()).toEqual([true, true, true])
  })
})

test('more suspects than one question takes are judged in rounds', () => {
  for (let port = 1; port <= 2_500; port++) cluster.register(address({ port }))
  expect(cluster.members[0]!.state.instanceCount(ORDERS)).toBe(2_500)
  cluster.passUntil(() => cluster.members[0]!.state.instanceCount(ORDERS) === 0)
  expect(cluster.nowMs).toBeLessThanOrEqual(100_000 + REMOVE_MS + 1_000)
})

/** The events that may happen in a cluster within a second. */
type Event = 'nothing' | 'join' | 'restart' | 'leave' | 'crash' | 'freeze' | 'thaw' | 'mute' | 'speak'
const EVENTS: Event[] = ['nothing', 'join', 'restart', 'leave', 'crash', 'freeze', 'thaw', 'mute', 'speak']

/** Servers that come, go, freeze and do not answer, while an instance beats at any that lives and another one is dead. */
class Churn {
  readonly cluster = new Cluster()
  readonly #random: () => number
  readonly #lostMs = new Map<Member, number>()
  #process = 0

  constructor(random: () => number) {
    this.#random = random
    for (const port of [1, 2, 3]) this.cluster.join(port)
    this.cluster.register(WHERE)
  }

  /** A second passes in which this happens. */
  second(event: Event): void {
    this.#happen(event)
    this.cluster.pass(1_000, () => {
      if (this.cluster.nowMs % 5_000 === 0) this.cluster.beat(this.#pick(this.#live()), WHERE)
      for (const [member, lostMs] of this.#lostMs) if (lostMs <= this.cluster.nowMs) this.#endLease(member)
    })
  }

  get changesOfLive(): readonly string[] {
    return this.cluster.log
      .filter((change) => 'address' in change && change.address.port === WHERE.port)
      .map(({ kind }) => kind)
  }

  #happen(event: Event): void {
    const { cluster } = this
    const victim = this.#pick(cluster.members)
    const mayLose = this.#live().length > 1
    if (event === 'join' && cluster.members.length < 5) cluster.join(10 + ++this.#process)
    if (event === 'restart') {
      this.#lostMs.delete(victim)
      cluster.join(Number(victim.id.split(':')[1]), `process ${++this.#process}`)
    }
    if (event === 'leave' && mayLose && !victim.isFrozen) cluster.lose(victim)
    if ((event === 'crash' || event === 'freeze') && mayLose && !victim.isFrozen) {
      victim.isFrozen = true
      // Renewed at some moment of the last three seconds.
      this.#lostMs.set(victim, cluster.nowMs + 7_000 + Math.floor(this.#random() * 12) * 250)
    }
    if (event === 'thaw') this.#thaw(victim)
    if (event === 'mute') victim.answers = false
    if (event === 'speak') for (const member of cluster.members) member.answers = true
  }

  #thaw(member: Member): void {
    if (!member.isFrozen) return
    member.isFrozen = false
    if (this.#lostMs.delete(member)) return
    // It finds its lease ended, and is a member again with the beats that it received before.
    member.hasLease = true
    const saved = this.cluster.log.findLast(
      (change) => change.kind === 'record-saved' && change.id === member.id,
    )
    this.cluster.apply([saved!])
  }

  #endLease(member: Member): void {
    this.#lostMs.delete(member)
    member.hasLease = false
    this.cluster.lose(member, this.#random() < 0.5)
  }

  #live(): Member[] {
    return this.cluster.members.filter(({ isFrozen }) => !isFrozen)
  }

  #pick(members: readonly Member[]): Member {
    return members[Math.floor(this.#random() * members.length)]!
  }
}

test('whatever members do, an instance that beats at a live member is never unhealthy or removed, and a dead one leaves', () => {
  const second = constantFrom<Event>('nothing', 'nothing', 'nothing', 'nothing', ...EVENTS)
  assert(
    property(array(second, { minLength: 60, maxLength: 200 }), integer(), (events, seed) => {
      let state = seed
      const churn = new Churn(() => {
        state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
        return (state >>> 8) / 2 ** 24
      })
      const dead = address({ port: 99 })
      churn.cluster.register(dead)
      for (const event of events) churn.second(event)
      expect(churn.changesOfLive).toEqual([])
      for (let seconds = 0; seconds < 12; seconds++) churn.second('nothing')
      for (const member of churn.cluster.members) member.answers = true
      for (let seconds = 0; seconds < 32; seconds++) churn.second('nothing')
      expect(churn.changesOfLive).toEqual([])
      expect(churn.cluster.members.filter((member) => member.instance(dead) !== undefined)).toEqual([])
    }),
    { numRuns: 150 },
  )
})
