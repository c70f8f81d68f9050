import type { Loop } from '../core/sliced-work.ts'

/** How long a walk works before other requests get a turn. */
const SLICE_MS = 5
/** How long a walk may take in all. */
const LIMIT_MS = 2_000

/** A long walk that shares the event loop: it works in slices, and ends when it has taken too long. */
export class TimeSlices {
  readonly #loop: Loop
  readonly #endMs: number
  #sliceEndMs: number

  constructor(loop: Loop) {
    this.#loop = loop
    const nowMs = loop.now()
    this.#endMs = nowMs + LIMIT_MS
    this.#sliceEndMs = nowMs + SLICE_MS
  }

  /** Whether it is time for a turn of others. */
  get isDue(): boolean {
    return this.#loop.now() >= this.#sliceEndMs
  }

  /** Lets others have their turn. Resolves to false where the walk has to end. */
  async turn(): Promise<boolean> {
    await new Promise<void>((resolve) => this.#loop.soon(resolve))
    const nowMs = this.#loop.now()
    this.#sliceEndMs = nowMs + SLICE_MS
    return nowMs < this.#endMs
  }
}
