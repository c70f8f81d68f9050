import { at, ORDERS, registration, WALL_MS } from '../../core.test-support.ts'
import type { Change } from '../../decisions/changes.ts'
import type { Command } from '../../decisions/decision.ts'
import { Draft } from '../../decisions/draft.ts'
import { beat } from '../../naming/liveness/beat.ts'
import type { InstanceAddress } from '../../naming/state/instance.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import { Liveness } from '../../naming/liveness/liveness.ts'
import type { Silence } from '../../naming/liveness/silence.ts'
import { registerInstance } from '../../naming/commands/register-instance.ts'
import type { ServiceKey } from '../../naming/state/service.ts'
import { recordRemoved, recordSaved } from '../../records/record-kind.ts'
import { State } from '../../engine/state.ts'
import { judgeOf, JudgedServices } from './judged-services.ts'
import { MEMBER, memberIdOf, type MemberFacts, memberIds } from '../members/member-records.ts'
import { VERSIONS } from '../members/versions.test-support.ts'
import { silencesOf } from './peer-silence.ts'
import { SilenceVote } from './silence-vote.ts'

const TICK_MS = 250

/** A server of the cluster. Its health clock stops while it is frozen. */
export class Member {
  readonly state = new State(WALL_MS, undefined, new Liveness())
  readonly id: string
  readonly facts: MemberFacts
  liveness = new Liveness()
  vote: SilenceVote
  healthMs: number
  isFrozen = false
  /** Whether it answers questions. */
  answers = true
  hasLease = true
  /** Its answers where it lies, for a number of instances. */
  lie: ((places: number) => readonly Silence[]) | undefined
  /** How many instances it was asked about. */
  asked = 0

  constructor(facts: MemberFacts, log: readonly Change[], healthMs: number) {
    this.id = memberIdOf(facts)
    this.facts = facts
    this.healthMs = healthMs
    this.state = new State(WALL_MS, undefined, this.liveness)
    for (const change of log) this.state.apply([change], this.now)
    for (const instance of this.state.instances(ORDERS)) this.liveness.learn(instance, healthMs)
    this.vote = new SilenceVote(
      {
        state: this.state,
        liveness: this.liveness,
        self: this.id,
        judges: new JudgedServices(this.state, this.id).judges,
        isMember: () => this.hasLease,
      },
      healthMs,
    )
  }

  get now() {
    return at(this.healthMs)
  }

  instance(where: InstanceAddress, serviceKey: ServiceKey = ORDERS): Instance | undefined {
    return this.state.instance(serviceKey, where)
  }
}

/** Servers in virtual time. All apply at once the changes that one server decides. */
export class Cluster {
  readonly members: Member[] = []
  readonly log: Change[] = []
  /** Each server has a health clock of its own. */
  nowMs = 0

  /** A member joins, or takes the place of one with the same port. */
  join(port: number, process = `process of ${port}`): Member {
    const facts: MemberFacts = {
      ip: '10.0.0.1',
      port,
      peerPort: port,
      site: '',
      version: '1',
      process,
      auth: 'on',
      versions: VERSIONS,
    }
    const index = this.members.findIndex(({ id }) => id === memberIdOf(facts))
    const member = new Member(facts, this.log, port * 1_000 + this.nowMs)
    if (index === -1) this.members.push(member)
    else this.members[index] = member
    this.apply([recordSaved(MEMBER, { id: member.id, value: facts, stamp: 0 })])
    return member
  }

  /** The lease of a member ends. The member itself learns it too, unless it is gone. */
  lose(member: Member, isGone = true): void {
    if (isGone) this.members.splice(this.members.indexOf(member), 1)
    this.apply([recordRemoved(MEMBER, member.id, 0)])
  }

  judge(serviceKey: ServiceKey = ORDERS): Member {
    const id = judgeOf(serviceKey, memberIds(this.members[0]!.state))
    return this.members.find((member) => member.id === id)!
  }

  /** The members that do not judge. */
  others(): Member[] {
    return this.members.filter((member) => member !== this.judge())
  }

  apply(changes: readonly Change[]): void {
    this.log.push(...changes)
    for (const member of this.members) member.state.apply(changes, member.now)
  }

  execute<T>(member: Member, command: Command<T>): T {
    const { changes, outcome } = command.decide(new Draft(member.state), member.now)
    this.apply(changes)
    return outcome
  }

  register(where: InstanceAddress): void {
    this.execute(this.members[0]!, registerInstance(registration({ address: where })))
  }

  /** A member receives a beat. */
  beat(member: Member, where: InstanceAddress): void {
    const { healed } = beat(
      { state: member.state, liveness: member.liveness },
      { serviceKey: ORDERS, ...where },
      member.now,
    ) as { healed?: readonly Change[] }
    if (healed !== undefined) this.apply(healed)
  }

  /** Time passes. `each` is called after every tick. */
  pass(ms: number, each: () => void = () => {}): void {
    for (const untilMs = this.nowMs + ms; this.nowMs < untilMs;) {
      this.nowMs += TICK_MS
      const awake = this.members.filter(({ isFrozen }) => !isFrozen)
      for (const member of awake) member.healthMs += TICK_MS
      for (const member of awake) this.sweep(member)
      each()
    }
  }

  /** Passes until something is so, and returns how long it took; at most `mostMs`. */
  passUntil(isSo: () => boolean, mostMs = 120_000): number {
    const startMs = this.nowMs
    while (!isSo() && this.nowMs - startMs < mostMs) this.pass(TICK_MS)
    return this.nowMs - startMs
  }

  sweep(member: Member): void {
    const { vote } = member
    vote.take(member.healthMs, Infinity)
    for (;;) {
      const round = vote.open(member.healthMs)
      if (round === undefined) return
      for (const peer of this.members) {
        if (!round.peers.has(peer.id) || peer.isFrozen || !peer.answers) continue
        peer.asked += round.places.length
        const silences = peer.lie?.(round.places.length) ?? silencesOf(round.places, peer, peer.healthMs)
        vote.answered(peer.id, silences, member.healthMs)
      }
      for (const confirmed of vote.close(member.healthMs)) {
        const isDone = this.execute(member, confirmed.command)
        vote.settled(confirmed, isDone, member.healthMs)
      }
    }
  }
}
