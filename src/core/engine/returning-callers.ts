import type { Loop } from '../work/sliced-work.ts'

/** After this number of turns of the event loop without a new command, no more commands are expected. */
const IDLE_TURNS = 4
/** A batch of this size shares its fsync well. With more commands, it is better to decide some while others are written. */
const ENOUGH = 8
/** The longest wait. On a busy loop a turn takes long, and waiting would cost more than an fsync. */
const LONGEST_MS = 2

/**
 * Decides when a batch begins. Callers that were answered together usually send their next commands together. A batch that
 * begins too early has half of these commands, and the other half needs another fsync. So a batch waits for as many
 * commands as the last one had. It waits some turns of the event loop, only while commands arrive, and never for long.
 */
export class ReturningCallers {
  readonly #loop: Loop
  #expected = 1

  constructor(loop: Loop) {
    this.#loop = loop
  }

  /** Call it when the callers of a batch are answered; `waiting` is the number of other commands. */
  answered(callers: number, waiting: number): void {
    this.#expected = Math.min(callers + waiting, ENOUGH)
  }

  /** Calls `begin` in a later turn, when no more commands are expected. `count` returns the number of waiting commands. */
  gather(count: () => number, begin: () => void): void {
    const { now, soon } = this.#loop
    const startedMs = now()
    let seen = 0
    let idleTurns = 0
    const turn = (): void => {
      const waiting = count()
      idleTurns = waiting > seen ? 0 : idleTurns + 1
      seen = waiting
      const expectsMore = waiting > 0 && waiting < this.#expected && idleTurns < IDLE_TURNS
      if (expectsMore && now() - startedMs < LONGEST_MS) soon(turn)
      else begin()
    }
    soon(turn)
  }
}
