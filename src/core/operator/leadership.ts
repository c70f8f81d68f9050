/** The time between two heartbeats in the leader query, ms. */
export const HEARTBEAT_MS = 5_000

/** How long a leader is the leader after its last heartbeat, ms. */
const LEASE_MS = 15_000

/** The answer of the leader query (interface.md, Leader). */
export interface LeaderView {
  /** Until the next heartbeat, ms. */
  readonly heartbeatDueMs: number
  /** `<ip>:<port>` */
  readonly ip: string
  /** Until the leadership would lapse without a heartbeat, ms. */
  readonly leaderDueMs: number
  readonly state: 'LEADER'
  readonly term: number
  readonly voteFor: string
}

/** One server is always its own leader; its term counts its starts on these data. */
export class Leadership {
  readonly #address: () => string
  readonly #term: number
  #heartbeatMs: number

  /** `address`: `<ip>:<port>` of this server; `nowMs`: monotonic. */
  constructor(address: () => string, term: number, nowMs: number) {
    this.#address = address
    this.#term = term
    this.#heartbeatMs = nowMs
  }

  /** Call it every `HEARTBEAT_MS`. */
  heartbeat(nowMs: number): void {
    this.#heartbeatMs = nowMs
  }

  view(nowMs: number): LeaderView {
    const sinceMs = Math.round(nowMs - this.#heartbeatMs)
    const ip = this.#address()
    return {
      heartbeatDueMs: Math.max(HEARTBEAT_MS - sinceMs, 0),
      ip,
      leaderDueMs: Math.max(LEASE_MS - sinceMs, 0),
      state: 'LEADER',
      term: this.#term,
      voteFor: ip,
    }
  }
}
