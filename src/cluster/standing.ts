import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { PeerClient } from './peer-client.ts'
import { STANDING } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'

/**
 * The standing of a server. `member`: its lease is certain, and it is up to date. `down-for-all`: neither it nor the
 * others have a certain lease: nobody reaches the store. `alone`: only this server is cut off, so clients must use
 * another one.
 */
export type Standing = 'member' | 'alone' | 'down-for-all'

/** The dependencies of the standing. */
export interface OwnStandingParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The member id of this server. */
  readonly self: string
  /** All members, by their ids, as the state has them. */
  readonly members: () => ReadonlyMap<string, MemberFacts>
  /** Whether the lease of this server is certain. */
  readonly isCertain: () => boolean
  /** Whether the store has renewed the lease lately: it stays certain for some seconds after the store is lost. */
  readonly hasStore: () => boolean
  /** Whether the feed has reached the revision in which this server became a member, the last time it did. */
  readonly hasCaughtUp: () => boolean
}

/** The answers of the other servers, counted. */
interface Said {
  readonly having: number
  /** How many have lost the store too. */
  readonly lost: number
}

/**
 * How often in a row a server must be found alone. Its clients must not leave for one late answer of a busy peer, or for a
 * peer that loses the store a moment later.
 */
const LOOKS_UNTIL_ALONE = 2
/** The same after an outage for all: servers do not reach a store that is back at the same moment, but within some seconds. */
const LOOKS_AFTER_OUTAGE = 10

/**
 * Finds out whether this server alone has lost the store, or all have. While its lease is not certain, it asks the members
 * that it knew last. It is alone if the store still renews the lease of any. It is also alone if fewer than a majority, with
 * itself, are known to have lost the store: silent members may well have it. A server without others is never alone.
 */
export class OwnStanding {
  readonly #parts: OwnStandingParts
  /** The members when the lease was last certain. */
  #known: ReadonlyMap<string, MemberFacts> = new Map()
  /** The standing found since the lease was last certain; undefined: it is certain. */
  #lost: Exclude<Standing, 'member'> | undefined
  /** How many times in a row it was found alone. */
  #timesAlone = 0
  /** Whether the others had lost the store, too, since the lease was last certain. */
  #wasForAll = false
  #isLooking = false

  constructor(parts: OwnStandingParts) {
    this.#parts = parts
  }

  /**
   * The standing of this server now. As long as nothing else is known, a lost lease is taken for an outage of the store.
   */
  get current(): Standing {
    if (this.#lost !== undefined) return this.#lost
    return this.#parts.isCertain() ? 'member' : 'down-for-all'
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(STANDING, () => ({ hasStore: this.#parts.hasStore() }))
  }

  /** Looks again. Call it about twice a second. */
  async look(): Promise<void> {
    const { isCertain, hasCaughtUp, members } = this.#parts
    if (isCertain()) {
      if (this.#lost !== undefined && !hasCaughtUp()) return
      this.#lost = undefined
      this.#timesAlone = 0
      this.#wasForAll = false
      this.#known = members()
      return
    }
    this.#lost ??= 'down-for-all'
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      const found = this.#judge(await this.#ask())
      if (!isCertain()) this.#note(found)
    } finally {
      this.#isLooking = false
    }
  }

  #note(found: Exclude<Standing, 'member'>): void {
    this.#wasForAll ||= found === 'down-for-all'
    this.#timesAlone = found === 'alone' ? this.#timesAlone + 1 : 0
    const looks = this.#wasForAll ? LOOKS_AFTER_OUTAGE : LOOKS_UNTIL_ALONE
    this.#lost = found === 'alone' && this.#timesAlone < looks ? 'down-for-all' : found
  }

  #judge({ having, lost }: Said): Exclude<Standing, 'member'> {
    const all = new Set([...this.#known.keys(), this.#parts.self]).size
    const isMajority = lost + 1 > all / 2
    return having > 0 || !isMajority ? 'alone' : 'down-for-all'
  }

  async #ask(): Promise<Said> {
    const { client, self, members } = this.#parts
    const now = members()
    const others = [...this.#known].filter(([id]) => id !== self)
    const said = await Promise.all(
      // A server that has restarted is another process, which the feed may have brought before it was cut off.
      others.map(async ([id, facts]) => client.ask(now.get(id) ?? facts, STANDING, {})),
    )
    const answers = said.filter((each) => each !== undefined)
    const having = answers.filter(({ hasStore }) => hasStore).length
    return { having, lost: answers.length - having }
  }
}
