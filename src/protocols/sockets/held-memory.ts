import { bytesOfPieces, type LongText } from '../../core/text/long-text.ts'

/** Something that holds memory. */
export interface Holder {
  /** There is too much memory in use, and this holder is the oldest: it is ended. */
  giveUp(): void
}

/**
 * Memory that waits for clients, within a limit: answers that they have not read yet, and requests that they
 * have not sent completely. A client that reads or sends is done in a moment, so the oldest is given up
 * first: slow clients take nothing from others.
 */
export class OldestFirstMemory {
  readonly #limitBytes: number
  /** The oldest first. */
  readonly #held = new Map<Holder, number>()
  /** By the first of the pieces that are the same for everybody. */
  readonly #texts = new Map<Buffer, SharedText>()
  readonly #textsOf = new Map<Holder, Set<SharedText>>()
  #bytes = 0

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes
  }

  /** The bytes that are counted. */
  get bytes(): number {
    return this.#bytes
  }

  /** Sets the bytes of a holder. The last holder that is left is not given up. */
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

  /**
   * This holder holds a text now, until `release`. A text of several holders is counted once, as the newest of all, and
   * given up with all its holders.
   */
  share(holder: Holder, { rest }: Pick<LongText, 'rest'>): void {
    const [key] = rest
    if (key === undefined) return
    const text = this.#texts.get(key) ?? new SharedText(key)
    this.#texts.set(key, text)
    text.holders.add(holder)
    const texts = this.#textsOf.get(holder) ?? new Set()
    this.#textsOf.set(holder, texts.add(text))
    this.count(text, 0)
    this.count(text, bytesOfPieces(rest))
  }

  /** This holder holds nothing any more. */
  release(holder: Holder): void {
    this.count(holder, 0)
    for (const text of this.#textsOf.get(holder) ?? []) {
      text.holders.delete(holder)
      if (text.holders.size > 0) continue
      this.#texts.delete(text.key)
      this.count(text, 0)
    }
    this.#textsOf.delete(holder)
  }
}

/** A text that several may hold. */
class SharedText implements Holder {
  readonly key: Buffer
  readonly holders = new Set<Holder>()

  constructor(key: Buffer) {
    this.key = key
  }

  giveUp(): void {
    for (const holder of this.holders) holder.giveUp()
  }
}
