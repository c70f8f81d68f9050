import { guarded } from '../../../core/unexpected.ts'

/** A session that has received something, or has something to send. */
export interface ServedSession {
  /** Handles received bytes, and sends answers. Returns the bytes of both and of whole requests. It must not throw. */
  serve(): number
}

/** How many sessions are served in a turn: one takes about 0.1 ms. */
export const MOST_SESSIONS = 64

/** With this many bytes a turn ends before: the cost of a large request grows with its bytes. */
const MOST_BYTES = 128 * 1024

/**
 * Serves sessions in turns of the event loop, each once in a turn. So several answers of a session leave with one
 * write. The bytes of a turn are limited; other sessions wait for the next turn, in the order in which they came. So
 * thousands of clients that call at the same moment delay neither timers nor other protocols.
 */
export class SessionTurns {
  readonly #waiting = new Set<ServedSession>()
  #isScheduled = false

  /** Lets a session be served at the end of this turn, or of a later one. */
  add(session: ServedSession): void {
    this.#waiting.add(session)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#turn)
  }

  /** A fault of a turn leaves the other sessions to the next turn: all connections depend on it. */
  readonly #turn = guarded(
    'connection',
    () => this.#again(),
    () => this.#serve(),
  )

  #again(): void {
    this.#isScheduled = false
    if (this.#waiting.size > 0) this.#schedule()
  }

  #serve(): void {
    this.#isScheduled = false
    let [sessions, bytes] = [0, 0]
    for (const session of this.#waiting) {
      if (sessions++ === MOST_SESSIONS || bytes >= MOST_BYTES) return this.#schedule()
      this.#waiting.delete(session)
      bytes += session.serve()
    }
  }
}
