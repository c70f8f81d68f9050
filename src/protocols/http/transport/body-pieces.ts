/** After this many pieces they are joined, if they are small. */
const JOINED = 256

/** Pieces of this size on average are not small: the 100 bytes that each costs besides its own no longer matter. */
const SMALL_BYTES = 1024

/** The pieces of a body while it arrives. Even very many very small ones take little more memory than their bytes. */
export class BodyPieces {
  readonly #pieces: Buffer[]
  /** Pieces since the last join. */
  #loose = 1

  constructor(first: Buffer) {
    this.#pieces = [first]
  }

  add(piece: Buffer): void {
    this.#pieces.push(piece)
    if (++this.#loose === JOINED) this.#join()
  }

  [Symbol.iterator](): Iterator<Buffer> {
    return this.#pieces.values()
  }

  /** All pieces as one buffer of `bytes`. */
  whole(bytes: number): Buffer {
    const pieces = this.#pieces
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, bytes)
  }

  #join(): void {
    this.#loose = 0
    const last = this.#pieces.slice(-JOINED)
    const bytes = last.reduce((sum, { length }) => sum + length, 0)
    if (bytes < JOINED * SMALL_BYTES) this.#pieces.splice(-JOINED, JOINED, Buffer.concat(last, bytes))
  }
}
