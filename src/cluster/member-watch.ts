import type { MemberFacts } from '../core/cluster/members/member-records.ts'

/** A member that has not replied for this long is reported. It is asked every two seconds. */
const UNREACHED_MS = 5_000

/** The dependencies of `MemberWatch`. */
export interface MemberWatchParts {
  /** The member id of this server. */
  readonly self: string
  /** All members, by their ids, as the state has them. */
  readonly members: () => ReadonlyMap<string, MemberFacts>
  /** Whether a member replied when it was last asked. */
  readonly replies: (id: string) => boolean
  readonly monotonicMs: () => number
  readonly log: MemberLog
}

/** The log for lines about members. */
export interface MemberLog {
  info(facts: object, text: string): void
  warn(facts: object, text: string): void
}

/** A server that is a member, or was one since this server was started. */
interface WatchedMember {
  /** Undefined: it is away. */
  facts: MemberFacts | undefined
  /** Since when that is so; undefined: since before the first look. */
  sinceMs: number | undefined
  /** Since when it does not reply; undefined: it does. */
  silentSinceMs: number | undefined
  isReported: boolean
}

/** Sees which members come, go and do not reply, and writes one line in the log for each. */
export class MemberWatch {
  readonly #parts: MemberWatchParts
  readonly #watched = new Map<string, WatchedMember>()
  #hasLooked = false

  constructor(parts: MemberWatchParts) {
    this.#parts = parts
  }

  /** How long a server has been present or away; undefined: since before the first look, or unknown. */
  forMs(id: string): number | undefined {
    const sinceMs = this.#watched.get(id)?.sinceMs
    return sinceMs === undefined ? undefined : Math.round(this.#parts.monotonicMs() - sinceMs)
  }

  /** Looks again. Call it about once a second, from when this server is a member itself. */
  look(): void {
    const { self, members } = this.#parts
    const now = members()
    for (const [id, facts] of now) if (id !== self) this.#isThere(id, facts)
    for (const [id, watched] of this.#watched)
      if (watched.facts !== undefined && !now.has(id)) this.#isGone(id, watched)
    this.#hasLooked = true
  }

  #isThere(id: string, facts: MemberFacts): void {
    const { log, monotonicMs } = this.#parts
    const known = this.#watched.get(id)
    if (known?.facts?.process === facts.process) {
      this.#lookAtReplies(id, facts, known)
      return
    }
    const sinceMs = this.#hasLooked ? monotonicMs() : undefined
    this.#watched.set(id, { facts, sinceMs, silentSinceMs: undefined, isReported: false })
    if (!this.#hasLooked) return
    const { version, process } = facts
    log.info({ member: id, version, process }, 'a server has joined')
  }

  #isGone(id: string, watched: WatchedMember): void {
    const { version, process } = watched.facts!
    watched.facts = undefined
    watched.sinceMs = this.#parts.monotonicMs()
    this.#parts.log.warn(
      { member: id, version, process },
      'a server is gone, and the others do its work: if nobody has stopped it, look at its log and its machine',
    )
  }

  #lookAtReplies(id: string, { peerPort }: MemberFacts, watched: WatchedMember): void {
    const { replies, monotonicMs, log } = this.#parts
    const nowMs = monotonicMs()
    if (replies(id)) {
      if (watched.isReported) log.info({ member: id }, 'a server can be reached again')
      watched.silentSinceMs = undefined
      watched.isReported = false
      return
    }
    watched.silentSinceMs ??= nowMs
    if (watched.isReported || nowMs - watched.silentSinceMs < UNREACHED_MS) return
    watched.isReported = true
    log.warn(
      { member: id, peerPort },
      'a server cannot be reached though it keeps its lease: check that its peer port can be reached from here, then its log',
    )
  }
}
