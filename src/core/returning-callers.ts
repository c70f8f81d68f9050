import type { Loop } from './sliced-work.ts'

/** So many turns of the event loop without a new command, and nobody seems to come. */
const IDLE_TURNS = 4
/** So many share an fsync well enough: of more it is better to decide some while others are written. */
const ENOUGH = 8
/** Turns take long where others keep the loop busy: so long that waiting for some costs more than an fsync. */
const LONGEST_MS = 2

/**
 * When to begin a batch. A few callers that were answered together mostly come back with their next command in a moment.
 * A batch that begins before they do shares its fsync with half of them, and the other half needs another one. So it waits
 * for as many as there were lately: for turns of the event loop, only while somebody comes, and never for long.
 */
export class ReturningCallers {
  readonly #loop: Loop
  #expected = 1

  constructor(loop: Loop) {
    this.#loop = loop
  }

  /** A batch has ended: its callers are answered, while others wait already. */
  answered(callers: number, waiting: number): void {
    this.#expected = Math.min(callers + waiting, ENOUGH)
  }

  /** Begins a batch in a later turn, not before there is no use in waiting; `count` is how many commands wait by now. */
  gather(count: () => number, begin: () => void): void {
    const { now, soon } = this.#loop
    const startedMs = now()
    let seen = 0
    let idleTurns = 0
    const turn = (): void => {
      const waiting = count()
      idleTurns = waiting > seen ? 0 : idleTurns + 1
      seen = waiting
      const areAwaited = waiting > 0 && waiting < this.#expected && idleTurns < IDLE_TURNS
      if (areAwaited && now() - startedMs < LONGEST_MS) soon(turn)
      else begin()
    }
    soon(turn)
  }
}
