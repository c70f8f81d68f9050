import { Refusal } from '../../../core/refusal.ts'

/** Bodies up to this size are let in while large ones fill the memory: beats and registrations go on. */
const ALWAYS_BYTES = 16 * 1024

/** What the bodies that are being read take together, within a limit. */
export class BodyMemory {
  readonly #limitBytes: number
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Whether a body that has grown to `bodyBytes`, by `moreBytes` just now, may go on; its bytes count then. */
  take(moreBytes: number, bodyBytes: number): boolean {
    if (bodyBytes > ALWAYS_BYTES && this.#heldBytes + moreBytes > this.#limitBytes) return false
    this.#heldBytes += moreBytes
    return true
  }

  /** A body was read, refused or lost. */
  release(bytes: number): void {
    this.#heldBytes -= bytes
  }

  /** The refusal of a body that finds no room. */
  refusal(): Refusal {
    const allowed = `at most ${this.#limitBytes} bytes of bodies at once`
    return new Refusal('body-memory', `The server reads ${allowed}: try again in a moment.`, { allowed })
  }
}
