import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { PeerClient } from './peer-client.ts'
import { CONDITION } from './peer-question.ts'

/** A greater lag behind the store is reported. A quiet etcd is asked once a second. */
const LAGGING_MS = 2_000
/** From then on clients should use another server, if others are not as late. */
const LEFT_BEHIND_MS = 10_000

/** The dependencies of the lag. */
export interface OwnLagParts {
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
export interface Lag {
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
