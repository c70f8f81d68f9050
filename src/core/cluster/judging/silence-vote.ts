import type { Command } from '../../decisions/decision.ts'
import { isChecked } from '../../naming/state/checked.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import { UNJUDGED_MS } from '../../naming/liveness/liveness.ts'
import type { InstancePlace } from '../../naming/state/presence.ts'
import type { ServiceKey } from '../../naming/state/service.ts'
import {
  patienceWith,
  type Silence,
  type SilenceEffect,
  effectOfSilence,
} from '../../naming/liveness/silence.ts'
import type { State } from '../../engine/state.ts'
import { confirmSilence, type VotingMember, membersText } from './confirm-silence.ts'
import { MemberFailures } from './member-failures.ts'
import { MEMBER, type MemberFacts } from '../members/member-records.ts'

/** The most instances of one question: its texts and the answers must not hold up the loop of either server. */
const MOST_ASKED = 1_000
/** After this time an instance is checked again whose silence was not confirmed yet. */
const WAITS_MS = 1_000
/**
 * The longest time until an instance is checked again that another server judges: by then this one may be the judge.
 */
const MOST_UNSEEN_MS = 5_000

/** The state and the member that a vote works on. */
export interface SilenceVoteParts extends VotingMember {
  readonly state: State
  /** Whether this server judges a service, as the members are now (`JudgedServices`). */
  readonly judges: (key: ServiceKey) => boolean
}

/** Suspects about which every other member is asked at once. */
export interface VoteRound {
  /** Health time. Only silence until then counts. */
  readonly askedMs: number
  /** The other members. */
  readonly peers: ReadonlyMap<string, MemberFacts>
  readonly places: readonly InstancePlace[]
}

/**
 * A silence that all members have confirmed. The engine has to carry out its effect. Report its outcome with `settled`.
 */
export interface ConfirmedSilence {
  readonly instance: Instance
  readonly effect: SilenceEffect
  readonly command: Command<boolean>
}

interface OpenVoteRound extends VoteRound {
  readonly suspects: readonly Instance[]
  /** The earliest time at which a member learned of each. */
  readonly learnedMs: number[]
  readonly members: string
  readonly answered: Set<string>
}

/**
 * Votes on the silence of instances, on a server that is one of several. Clients send their beats to any
 * server, so an instance without a beat here is only suspected. All other members are asked to refute that or
 * to confirm it. The last beat at any member counts. If no member received one, the longest time counts for
 * which a member has known the instance. It is never more than the time since a member was last lost, which
 * may have received a beat (`MemberFailures`).
 *
 * One round is open at a time, so each member has one question to answer; what becomes due meanwhile waits
 * for the next. A member that does not answer delays confirming, but not refuting. The vote has no clock and
 * asks nobody itself. The order is: `take`, `open`, `answered` for each peer that has answered, `close`, and
 * `settled` for each confirmed silence.
 */
export class SilenceVote {
  readonly #parts: SilenceVoteParts
  readonly #failures: MemberFailures
  /** Suspects that no question has named yet. */
  #waiting: Instance[] = []
  /**
   * Everything that is not in the queue of `Liveness`: it waits, is asked about, or its confirmed silence is
   * being carried out.
   */
  readonly #busy = new Set<Instance>()
  #round: OpenVoteRound | undefined

  constructor(parts: SilenceVoteParts, nowMs: number) {
    this.#parts = parts
    this.#failures = new MemberFailures(parts.state, nowMs)
  }

  /** How many instances are suspects. */
  get size(): number {
    return this.#busy.size
  }

  /** This server was without news of the members: it may have missed a lost member. */
  missedNews(nowMs: number): void {
    this.#failures.note(nowMs)
  }

  /** Takes at most `most` of the instances that are due. Returns whether there are more. */
  take(nowMs: number, most: number): boolean {
    const { liveness } = this.#parts
    const failureMs = this.#failures.look(nowMs)
    for (const instance of liveness.takeDue(nowMs, most)) {
      if (this.#busy.has(instance)) continue
      const laterMs = this.#laterMs(instance, failureMs, nowMs)
      if (laterMs !== undefined) liveness.lookAgain(instance, laterMs)
      else {
        this.#busy.add(instance)
        this.#waiting.push(instance)
      }
    }
    return liveness.hasMore
  }

  /** When an instance is to be checked again; undefined: it is a suspect now. */
  #laterMs(instance: Instance, failureMs: number, nowMs: number): number | undefined {
    const { state, liveness, judges } = this.#parts
    const { key } = instance.entry.service
    if (!isChecked(state.switches, key)) {
      // When it is checked again, it has its full time.
      liveness.noteBeatElsewhere(instance, nowMs)
      return nowMs + UNJUDGED_MS
    }
    if (!judges(key)) return nowMs + unseenMs(patienceWith(instance, liveness.announced.at(nowMs)))
    const dueMs = this.#dueMs(instance, failureMs, nowMs)
    return dueMs > nowMs ? dueMs : undefined
  }

  /**
   * Begins a round with the waiting suspects, and returns the members to ask; undefined: a round is open, or
   * there is nothing to ask.
   */
  open(nowMs: number): VoteRound | undefined {
    const { state, self, isMember } = this.#parts
    if (this.#round !== undefined || this.#waiting.length === 0 || !isMember()) return undefined
    const suspects = this.#nextSuspects(nowMs)
    if (suspects.length === 0) return undefined
    const peers = new Map(Array.from(state.records(MEMBER)).filter(([id]) => id !== self))
    this.#round = {
      askedMs: nowMs,
      peers,
      places: suspects.map(({ entry, record }) => ({
        serviceKey: entry.service.key,
        address: record.address,
      })),
      suspects,
      learnedMs: suspects.map(() => nowMs),
      members: membersText(state),
      answered: new Set(),
    }
    return this.#round
  }

  #nextSuspects(nowMs: number): Instance[] {
    const failureMs = this.#failures.look(nowMs)
    return this.#waiting.splice(0, MOST_ASKED).filter((instance) => {
      const isWatched = this.#parts.liveness.isWatched(instance)
      const laterMs = isWatched ? this.#laterMs(instance, failureMs, nowMs) : nowMs
      if (laterMs !== undefined) this.#release(instance, laterMs)
      return laterMs === undefined
    })
  }

  /** A member has answered the question of the open round, with one silence for each place. */
  answered(member: string, silences: readonly Silence[], nowMs: number): void {
    const round = this.#round
    if (round?.peers.has(member) !== true || silences.length !== round.suspects.length) return
    round.answered.add(member)
    for (const [index, instance] of round.suspects.entries()) {
      const silence = silences[index]!
      if (silence.kind === 'unknown') continue
      const sinceMs = nowMs - silence.agoMs
      if (silence.kind === 'heard') this.#parts.liveness.noteBeatElsewhere(instance, sinceMs)
      else round.learnedMs[index] = Math.min(round.learnedMs[index]!, sinceMs)
    }
  }

  /** Ends the open round. Returns the confirmed silences; everything else is checked again when its time comes. */
  close(nowMs: number): ConfirmedSilence[] {
    const round = this.#round
    if (round === undefined) return []
    this.#round = undefined
    const failureMs = this.#failures.look(nowMs)
    const isComplete =
      round.answered.size === round.peers.size && membersText(this.#parts.state) === round.members
    return round.suspects.flatMap((instance, index) => {
      const sinceMs = Math.max(this.#silentSinceMs(instance, round.learnedMs[index]!), failureMs)
      const { announced } = this.#parts.liveness
      const effect = effectOfSilence(instance, round.askedMs - sinceMs, announced.at(nowMs))
      if (effect !== undefined && isComplete && this.#parts.liveness.isWatched(instance)) {
        const { askedMs, members } = round
        return [
          {
            instance,
            effect,
            command: confirmSilence({ instance, effect, askedMs, members }, this.#parts),
          },
        ]
      }
      const dueMs = announced.checkedMs(sinceMs + patienceWith(instance, announced.at(nowMs)), nowMs)
      this.#release(instance, effect === undefined ? dueMs : nowMs + WAITS_MS)
      return []
    })
  }

  /** The outcome of a confirmed silence: true, it was carried out; otherwise the instance is checked again soon. */
  settled({ instance }: ConfirmedSilence, isDone: boolean, nowMs: number): void {
    this.#release(
      instance,
      isDone ? this.#dueMs(instance, this.#failures.look(nowMs), nowMs) : nowMs + WAITS_MS,
    )
  }

  #release(instance: Instance, atMs: number): void {
    this.#busy.delete(instance)
    this.#parts.liveness.lookAgain(instance, atMs)
  }

  /** The earliest time at which the silence of an instance can matter, as far as this server knows. */
  #dueMs(instance: Instance, failureMs: number, nowMs: number): number {
    const sinceMs = Math.max(this.#silentSinceMs(instance, Infinity), failureMs)
    const { announced } = this.#parts.liveness
    return announced.checkedMs(sinceMs + patienceWith(instance, announced.at(nowMs)), nowMs)
  }

  /** `learnedMs`: when another member learned of the instance. */
  #silentSinceMs(instance: Instance, learnedMs: number): number {
    const { atMs, isBeat } = this.#parts.liveness.lastBeatOf(instance)
    return isBeat ? atMs : Math.min(atMs, learnedMs)
  }
}

/** In a quarter of its patience an instance may become this server's to judge, and still be judged in time. */
function unseenMs(patience: number): number {
  return Math.min(Math.max(patience / 4, UNJUDGED_MS), MOST_UNSEEN_MS)
}
