import type { MemberFacts } from '../core/cluster/members/member-records.ts'
import type { PeerClient } from './peer-client.ts'
import { HEARD } from './peer-question.ts'
import type { PeerServer } from './peer-server.ts'

/** The facts that {@link HeardServers} works on. */
export interface HeardServersParts {
  readonly client: Pick<PeerClient, 'ask'>
  /** The member id of this server. */
  readonly self: string
  /** The other members, by their ids. */
  readonly peers: () => ReadonlyMap<string, MemberFacts>
  /** Whether a server with this id is known: answers about other servers are ignored. */
  readonly isKnown: (id: string) => boolean
  readonly monotonicMs: () => number
}

/**
 * How long ago each server last answered any of the servers. Each server asks the others regularly. An answer shows that its
 * sender lives, and has the sender's times for all servers. So a server that starts later learns when another one died.
 * Answers hold durations, because clocks differ.
 */
export class HeardServers {
  readonly #parts: HeardServersParts
  /** Monotonic ms, by member id. */
  readonly #heardMs = new Map<string, number>()
  /** The members that did not reply when they were last asked. */
  #silent: ReadonlySet<string> = new Set()
  #isAsking = false

  constructor(parts: HeardServersParts) {
    this.#parts = parts
  }

  /** Lets this server answer the others. */
  answerOn(server: PeerServer): void {
    server.answer(HEARD, () => Array.from(this.#ids(), (id) => ({ id, agoMs: this.agoMs(id)! })))
  }

  /** How long ago a server last answered; undefined if no running server remembers. */
  agoMs(id: string): number | undefined {
    if (id === this.#parts.self) return 0
    const heardMs = this.#heardMs.get(id)
    return heardMs === undefined ? undefined : Math.max(0, this.#parts.monotonicMs() - heardMs)
  }

  /** Whether a member replied when it was last asked. A member that was not asked yet counts as replying. */
  replies(id: string): boolean {
    return !this.#silent.has(id)
  }

  /** Asks all members. Call it regularly; a call while others are still being asked does nothing. */
  async ask(): Promise<void> {
    if (this.#isAsking) return
    this.#isAsking = true
    const silent = new Set<string>()
    try {
      const asked = Array.from(this.#parts.peers(), async ([id, member]) => {
        if (!(await this.#ask(id, member))) silent.add(id)
      })
      await Promise.all(asked)
    } finally {
      this.#silent = silent
      this.#isAsking = false
    }
  }

  async #ask(id: string, member: MemberFacts): Promise<boolean> {
    const { client, isKnown, monotonicMs } = this.#parts
    // Counting from the question, so that a time that passes through several servers never moves forward.
    const askedMs = monotonicMs()
    const answer = await client.ask(member, HEARD, {})
    if (answer === undefined) return false
    this.#heard(id, monotonicMs())
    for (const { id: other, agoMs } of answer) if (isKnown(other)) this.#heard(other, askedMs - agoMs)
    for (const old of this.#heardMs.keys()) if (!isKnown(old)) this.#heardMs.delete(old)
    return true
  }

  #heard(id: string, atMs: number): void {
    this.#heardMs.set(id, Math.max(atMs, this.#heardMs.get(id) ?? -Infinity))
  }

  #ids(): Set<string> {
    return new Set([this.#parts.self, ...this.#heardMs.keys()])
  }
}
