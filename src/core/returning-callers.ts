/** So many turns of the event loop without a new command, and nobody seems to come. */
const IDLE_TURNS = 4
/** So many share an fsync well enough: of more it is better to decide some while others are written. */
const ENOUGH = 8

/**
 * When to begin a batch. A few callers that were answered together mostly come back with their next command in a moment.
 * A batch that begins before they do shares its fsync with half of them, and the other half needs another one. So it waits
 * for as many as there were lately: for turns of the event loop, not for a time, and only while somebody comes.
 */
export class ReturningCallers {
  #expected = 1
  #seen = 0
  #idleTurns = 0

  /** A batch has ended: its callers are answered, while others wait already. */
  answered(callers: number, waiting: number): void {
    this.#expected = Math.min(callers + waiting, ENOUGH)
  }

  /** The next batch is to begin soon. */
  startWaiting(): void {
    this.#seen = 0
    this.#idleTurns = 0
  }

  /** Whether a batch had better wait for one more turn; asked once in each, with how many callers there are by now. */
  areAwaited(waiting: number): boolean {
    this.#idleTurns = waiting > this.#seen ? 0 : this.#idleTurns + 1
    this.#seen = waiting
    return waiting > 0 && waiting < this.#expected && this.#idleTurns < IDLE_TURNS
  }
}
