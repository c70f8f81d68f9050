import type { Command } from '../../decisions/decision.ts'
import { isChecked } from '../../naming/state/checked.ts'
import type { Instance } from '../../naming/state/service-entry.ts'
import { UNJUDGED_MS } from '../../naming/liveness/liveness.ts'
import type { InstancePlace } from '../../naming/state/presence.ts'
import type { ServiceKey } from '../../naming/state/service.ts'
import { patienceMs, type Silence, type Verdict, verdictOf } from '../../naming/liveness/silence.ts'
import type { State } from '../../engine/state.ts'
import { carryOutVerdict, type Judge, membersText } from './judgement.ts'
import { MemberLosses } from './member-losses.ts'
import { MEMBER, type MemberFacts } from '../members/member-records.ts'

/** The most instances of one question: its texts and the answers must not hold up the loop of either server. */
const MOST_ASKED = 1_000
/** After this time an instance is checked again whose verdict had to wait. */
const WAITS_MS = 1_000
/**
 * The longest time until an instance is checked again that another server judges: by then this one may be the
 * judge.
 */
const MOST_UNSEEN_MS = 5_000

/** What the court works on. */
export interface CourtParts extends Judge {
  readonly state: State
  /** Whether this server judges a service, as the members are now (`JudgedServices`). */
  readonly judges: (key: ServiceKey) => boolean
}

/** Instances about which every other member is asked at once. */
export interface Round {
  /** Health time. Only silence until then counts. */
  readonly askedMs: number
  /** The other members. */
  readonly peers: ReadonlyMap<string, MemberFacts>
  readonly places: readonly InstancePlace[]
}

/** A verdict that the engine has to carry out. Report its outcome with `settled`. */
export interface Judgement {
  readonly instance: Instance
  readonly verdict: Verdict
  readonly command: Command<boolean>
}

interface OpenRound extends Round {
  readonly suspects: readonly Instance[]
  /** The earliest time at which a member learned of each. */
  readonly learnedMs: number[]
  readonly members: string
  readonly answered: Set<string>
}

/**
 * Judges the silence of instances on a server that is one of several. Clients send their beats to any server,
 * so an instance without a beat here is a suspect only: the court asks every other member. The last beat at
 * any member counts. If no member received one, the longest time counts for which a member has known the
 * instance. It is never more than the time since a member was last lost, which may have received a beat
 * (`MemberLosses`).
 *
 * One round is open at a time, so each member has one question to answer; what becomes due meanwhile waits
 * for the next. A member that does not answer delays verdicts, not acquittals. It has no clock and asks
 * nobody itself. The order is: `take`, `open`, `answered` for each peer that has answered, `close`, and
 * `settled` for each judgement.
 */
export class SilenceCourt {
  readonly #parts: CourtParts
  readonly #losses: MemberLosses
  /** Suspects that no question has named yet. */
  #waiting: Instance[] = []
  /** Everything that is not in the queue of `Liveness`: it waits, is asked about, or its verdict is being carried out. */
  readonly #busy = new Set<Instance>()
  #round: OpenRound | undefined

  constructor(parts: CourtParts, nowMs: number) {
    this.#parts = parts
    this.#losses = new MemberLosses(parts.state, nowMs)
  }

  /** How many instances are suspects. */
  get size(): number {
    return this.#busy.size
  }

  /** This server was without news of the members: it may have missed that one was lost. */
  missedNews(nowMs: number): void {
    this.#losses.note(nowMs)
  }

  /** Takes at most `most` of the instances that are due. Returns whether there are more. */
  take(nowMs: number, most: number): boolean {
    const { liveness } = this.#parts
    const lossMs = this.#losses.look(nowMs)
    for (const instance of liveness.takeDue(nowMs, most)) {
      if (this.#busy.has(instance)) continue
      const laterMs = this.#laterMs(instance, lossMs, nowMs)
      if (laterMs !== undefined) liveness.lookAgain(instance, laterMs)
      else {
        this.#busy.add(instance)
        this.#waiting.push(instance)
      }
    }
    return liveness.hasMore
  }

  /** When an instance is to be looked at again; undefined: it is a suspect now. */
  #laterMs(instance: Instance, lossMs: number, nowMs: number): number | undefined {
    const { state, liveness, judges } = this.#parts
    const { key } = instance.entry.service
    if (!isChecked(state.switches, key)) {
      // When it is checked again, it has its full time.
      liveness.heardElsewhere(instance, nowMs)
      return nowMs + UNJUDGED_MS
    }
    if (!judges(key)) return nowMs + unseenMs(instance)
    const dueMs = this.#dueMs(instance, lossMs)
    return dueMs > nowMs ? dueMs : undefined
  }

  /**
   * Begins a round with the waiting suspects, and returns the members to ask; undefined: a round is open, or
   * there is nothing to ask.
   */
  open(nowMs: number): Round | undefined {
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
    const lossMs = this.#losses.look(nowMs)
    return this.#waiting.splice(0, MOST_ASKED).filter((instance) => {
      const isWatched = this.#parts.liveness.isWatched(instance)
      const laterMs = isWatched ? this.#laterMs(instance, lossMs, nowMs) : nowMs
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
      if (silence.kind === 'heard') this.#parts.liveness.heardElsewhere(instance, sinceMs)
      else round.learnedMs[index] = Math.min(round.learnedMs[index]!, sinceMs)
    }
  }

  /** Ends the open round. Returns the verdicts; everything else is looked at again when its time comes. */
  close(nowMs: number): Judgement[] {
    const round = this.#round
    if (round === undefined) return []
    this.#round = undefined
    const lossMs = this.#losses.look(nowMs)
    const isComplete =
      round.answered.size === round.peers.size && membersText(this.#parts.state) === round.members
    return round.suspects.flatMap((instance, index) => {
      const sinceMs = Math.max(this.#silentSinceMs(instance, round.learnedMs[index]!), lossMs)
      const verdict = verdictOf(instance, round.askedMs - sinceMs)
      if (verdict !== undefined && isComplete && this.#parts.liveness.isWatched(instance)) {
        const { askedMs, members } = round
        return [
          {
            instance,
            verdict,
            command: carryOutVerdict({ instance, verdict, askedMs, members }, this.#parts),
          },
        ]
      }
      const dueMs = sinceMs + patienceMs(instance.timing, instance.healthy)
      this.#release(instance, verdict === undefined ? dueMs : nowMs + WAITS_MS)
      return []
    })
  }

  /** The outcome of a judgement: true, it was carried out; otherwise the instance is checked again soon. */
  settled({ instance }: Judgement, isDone: boolean, nowMs: number): void {
    this.#release(instance, isDone ? this.#dueMs(instance, this.#losses.look(nowMs)) : nowMs + WAITS_MS)
  }

  #release(instance: Instance, atMs: number): void {
    this.#busy.delete(instance)
    this.#parts.liveness.lookAgain(instance, atMs)
  }

  /** The earliest time at which the silence of an instance can matter, as far as this server knows. */
  #dueMs(instance: Instance, lossMs: number): number {
    const sinceMs = this.#silentSinceMs(instance, Infinity)
    return Math.max(sinceMs, lossMs) + patienceMs(instance.timing, instance.healthy)
  }

  /** `learnedMs`: when another member learned of the instance. */
  #silentSinceMs(instance: Instance, learnedMs: number): number {
    const { heardMs, isHeard } = this.#parts.liveness.hearingOf(instance)
    return isHeard ? heardMs : Math.min(heardMs, learnedMs)
  }
}

/** In a quarter of its patience an instance may become this server's to judge, and still be judged in time. */
function unseenMs({ timing, healthy }: Instance): number {
  return Math.min(Math.max(patienceMs(timing, healthy) / 4, UNJUDGED_MS), MOST_UNSEEN_MS)
}
