import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { MemberLog } from './member-watch.ts'
import type { PeerClient } from './peer-client.ts'
import { CLOCK, CONDITION } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'

/** Clocks that are further apart are reported. NTP keeps clocks within some milliseconds. */
const APART_MS = 2_000
/** Changes get times that are later than most clocks by more than this: a clock was wrong for long, or another hand wrote them. */
const STAMPS_AHEAD_MS = 86_400_000
/** How often the members are asked. */
const ASK_EVERY_MS = 5_000

/** The dependencies of `MemberClocks`. */
export interface MemberClocksParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The member id of this server. */
  readonly self: string
  /** The other members, by their ids. */
  readonly peers: () => ReadonlyMap<string, MemberFacts>
  readonly wallMs: () => number
  /** See `Stamps.latestMs`. */
  readonly latestMs: () => number
  readonly monotonicMs: () => number
  readonly log: MemberLog
}

/** A clock as this server sees it: how far it is ahead of this server's own, give or take some ms. */
interface Seen {
  readonly id: string
  readonly aheadMs: number
  readonly plusMinusMs: number
}

/**
 * Compares the clocks of all members. Nothing depends on it: stamps rise with any clock. But history shows these times, and
 * tokens and sessions end by them. So the log names a clock that differs from most others.
 */
export class MemberClocks {
  readonly #parts: MemberClocksParts
  /** How far the clock of each member that answered lately is ahead of most clocks, ms. */
  #aheadMs: ReadonlyMap<string, number> = new Map()
  /** The ids of the members that were reported. */
  readonly #apart = new Set<string>()
  #areStampsAhead = false
  #askAtMs = 0
  #isAsking = false

  constructor(parts: MemberClocksParts) {
    this.#parts = parts
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(CLOCK, () => ({ wallMs: this.#parts.wallMs() }))
  }

  /** How far a member's clock is ahead of most clocks, ms; negative: behind. Undefined: it has not answered. */
  aheadMs(id: string): number | undefined {
    return this.#aheadMs.get(id)
  }

  /** Asks the members if that is due, and reports the clocks that are apart, each once. Call it every few seconds. */
  async look(): Promise<void> {
    const { monotonicMs, peers, self } = this.#parts
    if (this.#isAsking || monotonicMs() < this.#askAtMs) return
    this.#isAsking = true
    this.#askAtMs = monotonicMs() + ASK_EVERY_MS
    try {
      const asked = await Promise.all(Array.from(peers(), async ([id, facts]) => this.#ask(id, facts)))
      const seen = asked.filter((one) => one !== undefined)
      this.#compare([{ id: self, aheadMs: 0, plusMinusMs: 0 }, ...seen])
    } finally {
      this.#isAsking = false
    }
  }

  /** The clock was read at some time between the question and the answer. */
  async #ask(id: string, facts: MemberFacts): Promise<Seen | undefined> {
    const { client, wallMs, monotonicMs } = this.#parts
    const [askedMs, askedWallMs] = [monotonicMs(), wallMs()]
    const answer = await client.ask(facts, CLOCK, {})
    if (answer === undefined) return undefined
    const plusMinusMs = (monotonicMs() - askedMs) / 2
    return { id, aheadMs: answer.wallMs - (askedWallMs + plusMinusMs), plusMinusMs }
  }

  #compare(seen: readonly Seen[]): void {
    const rightMs = mostOf(seen)
    this.#aheadMs = new Map(seen.map(({ id, aheadMs }) => [id, Math.round(aheadMs - rightMs)]))
    for (const { id, plusMinusMs } of seen) {
      const isApart = Math.abs(this.#aheadMs.get(id)!) - plusMinusMs > APART_MS
      if (isApart !== this.#apart.has(id)) this.#report(id, isApart)
    }
    for (const id of this.#apart) if (!this.#aheadMs.has(id)) this.#apart.delete(id)
    this.#compareStamps(rightMs)
  }

  /** Nothing is refused: the clock of this machine may be the wrong one. */
  #compareStamps(rightMs: number): void {
    const { latestMs, wallMs, log } = this.#parts
    const aheadMs = Math.round(latestMs() - wallMs() - rightMs)
    const areAhead = aheadMs > STAMPS_AHEAD_MS
    if (areAhead && !this.#areStampsAhead)
      log.warn(
        { aheadMs },
        'changes get times that are more than a day ahead of most servers: a clock was wrong, or another hand has written to etcd',
      )
    this.#areStampsAhead = areAhead
  }

  #report(member: string, isApart: boolean): void {
    const { log } = this.#parts
    const facts = { member, aheadMs: this.#aheadMs.get(member)! }
    if (isApart) {
      this.#apart.add(member)
      log.warn(
        facts,
        'the clock of a server is apart from those of the others: let NTP set it on that machine (chronyc tracking shows it)',
      )
    } else {
      this.#apart.delete(member)
      log.info(facts, 'the clock of a server is that of the others again')
    }
  }
}

/** The time of most clocks. With two clocks, each server trusts its own and reports the other. */
function mostOf(seen: readonly Seen[]): number {
  if (seen.length < 3) return 0
  const sorted = seen.map(({ aheadMs }) => aheadMs).sort((a, b) => a - b)
  const middle = sorted.length / 2
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)]!
  return (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** A greater lag behind the store is reported. A quiet etcd is asked once a second. */
const LAGGING_MS = 2_000
/** From then on clients should use another server, if others are not as late. */
const LEFT_BEHIND_MS = 10_000

/** The dependencies of the lag. */
interface OwnLagParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The other members, by their ids. */
  readonly peers: () => ReadonlyMap<string, MemberFacts>
  /** The greatest possible age of this server's data. */
  readonly lagMs: () => number
  /** Whether the lease of this server is certain: without it the store is away, or this server is cut off. */
  readonly isMember: () => boolean
  readonly monotonicMs: () => number
}

/** This server is late by `forMs`. `isBehind`: other servers are not, so clients should use them. */
interface Lag {
  readonly reason: string
  readonly forMs: number
  readonly isBehind: boolean
}

/** Finds out whether this server receives changes too late, though it reaches the store, and whether it alone does. */
export class OwnLag {
  readonly #parts: OwnLagParts
  #isBehind = false
  #isLooking = false
  /** Since when the lease is certain; undefined: it is not. */
  #memberSinceMs: number | undefined

  constructor(parts: OwnLagParts) {
    this.#parts = parts
  }

  /** Undefined: this server is not late. */
  get current(): Lag | undefined {
    const forMs = Math.round(this.#lateMs())
    if (forMs < LAGGING_MS) return undefined
    const isBehind = this.#isBehind
    const advice = isBehind
      ? 'what others know is not. Use another server until this one has caught up'
      : 'it or the store is busy'
    return {
      reason: `What this server knows is ${Math.floor(forMs / 1_000)} s old; ${advice}.`,
      forMs,
      isBehind,
    }
  }

  /** Looks again. Call it about twice a second. */
  async look(): Promise<void> {
    const { isMember, monotonicMs } = this.#parts
    if (!isMember()) this.#memberSinceMs = undefined
    else this.#memberSinceMs ??= monotonicMs()
    if (!this.#isLate()) this.#isBehind = false
    else if (!this.#isLooking) await this.#askOthers()
  }

  #isLate(): boolean {
    return this.#lateMs() >= LEFT_BEHIND_MS
  }

  /** The time in which the store could not be reached does not count: when it is back, all servers catch up. */
  #lateMs(): number {
    const { lagMs, isMember, monotonicMs } = this.#parts
    if (this.#memberSinceMs === undefined || !isMember()) return 0
    return Math.min(lagMs(), monotonicMs() - this.#memberSinceMs)
  }

  async #askOthers(): Promise<void> {
    const { client, peers } = this.#parts
    this.#isLooking = true
    try {
      const answers = await Promise.all(
        Array.from(peers().values(), async (member) => client.ask(member, CONDITION, {})),
      )
      const isAnyFresh = answers.some((each) => each !== undefined && each.lagMs < LAGGING_MS)
      this.#isBehind = isAnyFresh && this.#isLate()
    } finally {
      this.#isLooking = false
    }
  }
}
