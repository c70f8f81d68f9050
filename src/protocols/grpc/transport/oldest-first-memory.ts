/** Something that holds memory. */
export interface Holder {
  /** There is too much, and this is the oldest of it: it is ended. */
  giveUp(): void
}

/**
 * Memory that waits for clients, within a limit: what they have not read yet, or not sent completely. A client that does its
 * part is done in a moment, so the oldest is given up first: slow clients take nothing from others.
 */
export class OldestFirstMemory {
  readonly #limitBytes: number
  /** The oldest first. */
  readonly #held = new Map<Holder, number>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** This holder holds this many bytes now, instead of those before. The last holder that is left is not given up. */
  count(holder: Holder, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(holder) ?? 0)
    if (bytes > 0) this.#held.set(holder, bytes)
    else this.#held.delete(holder)
    for (const [oldest] of this.#held) {
      if (this.#bytes <= this.#limitBytes || this.#held.size === 1) return
      this.count(oldest, 0)
      oldest.giveUp()
    }
  }
}
