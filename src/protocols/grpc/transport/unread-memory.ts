/** Somebody who has been sent something. */
export interface Reader {
  /** There is too much that nobody reads, and this is the oldest of it: it is not sent any more. */
  giveUp(): void
}

/**
 * What clients have not read yet, within a limit. Whoever reads is done in a moment, so the oldest is given up first: clients
 * that do not read take nothing from those that do.
 */
export class UnreadMemory {
  readonly #limitBytes: number
  /** The oldest first. */
  readonly #held = new Map<Reader, number>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** So many bytes are unread by this reader now, instead of those before. The last reader that is left is not given up. */
  count(reader: Reader, bytes: number): void {
    this.#bytes += bytes - (this.#held.get(reader) ?? 0)
    if (bytes > 0) this.#held.set(reader, bytes)
    else this.#held.delete(reader)
    for (const [oldest] of this.#held) {
      if (this.#bytes <= this.#limitBytes || this.#held.size === 1) return
      this.count(oldest, 0)
      oldest.giveUp()
    }
  }
}
