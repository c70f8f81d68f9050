import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { MemberLog } from './member-watch.ts'
import type { PeerClient } from './peer-client.ts'
import { CLOCK } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'

/** Clocks that are further apart are reported. NTP keeps clocks within some milliseconds. */
const APART_MS = 2_000
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
