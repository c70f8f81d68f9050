import type { Loop } from '../work/sliced-work.ts'

/** The longest wait, and the part of the time of the last commit that it may take. */
const LONGEST_MS = 10
const PART = 1 / 4

/** A loop that can wait. */
export interface PatientLoop extends Loop {
  /** Runs the callback after this time (in the server: setTimeout). Without it, nothing is waited for. */
  readonly after?: (ms: number, run: () => void) => void
}

/**
 * Decides when a commit to a store of several servers begins. The price of a commit hardly depends on the number of its
 * changes. So it waits for the callers that were just answered. It expects as many commands as the last commit had callers
 * and commands behind it. It waits at most a part of the time that the last commit took. A caller who is alone never waits.
 */
export class PatientCallers {
  readonly #loop: PatientLoop
  #expected = 0
  #sentMs = 0
  #waitMs = 0
  /** Runs when there are enough commands, or the time is over. */
  #held: (() => void) | undefined

  constructor(loop: PatientLoop) {
    this.#loop = loop
  }

  /** Call it when a commit is sent. */
  sent(): void {
    this.#sentMs = this.#loop.now()
  }

  /** Call it when the callers of a commit are answered; `waiting` is the number of other commands. */
  answered(callers: number, waiting: number): void {
    this.#expected = callers + waiting
    this.#waitMs = Math.min((this.#loop.now() - this.#sentMs) * PART, LONGEST_MS)
  }

  /** Calls `begin` in a later turn, when no more commands are expected. */
  gather(waiting: number, begin: () => void): void {
    const { soon, after } = this.#loop
    if (after === undefined || waiting >= this.#expected) return soon(begin)
    const held = (): void => {
      if (this.#held !== held) return
      this.#held = undefined
      begin()
    }
    this.#held = held
    after(this.#waitMs, held)
  }

  /** Call it with the number of waiting commands when another one has come. */
  arrived(waiting: number): void {
    // In a later turn: more requests may have been received already.
    if (this.#held !== undefined && waiting >= this.#expected) this.#loop.soon(this.#held)
  }
}
