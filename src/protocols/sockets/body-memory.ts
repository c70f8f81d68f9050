import { Refusal } from '../../core/refusal.ts'

/** Bodies up to this size are accepted even when large ones fill the memory, so that beats and registrations still work. */
export const ALWAYS_BYTES = 16 * 1024

/** The memory of all bodies that are being read, within a limit. There are three rules for memory: see decision 0047. */
export class BodyMemory {
  readonly #limitBytes: number
  #heldBytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** Counts `moreBytes` of a body that has grown to `bodyBytes`; false, and nothing is counted, when the limit is reached. */
  take(moreBytes: number, bodyBytes: number): boolean {
    if (bodyBytes > ALWAYS_BYTES && this.#heldBytes + moreBytes > this.#limitBytes) return false
    this.#heldBytes += moreBytes
    return true
  }

  /** A body was read, refused or lost: its bytes no longer count. */
  release(bytes: number): void {
    this.#heldBytes -= bytes
  }

  /** The refusal when the limit is reached. */
  refusal(): Refusal {
    return noBodyMemory(this.#limitBytes)
  }
}

/** The refusal of a body for which there is no room. */
export function noBodyMemory(limitBytes: number): Refusal {
  const allowed = `at most ${limitBytes} bytes of bodies at once`
  return new Refusal('body-memory', `The server reads ${allowed}: try again in a moment.`, { allowed })
}
