/** So many pieces are joined where they are small. */
const JOINED = 256

/** A piece costs some hundred bytes besides its own: of this size on average that no longer matters. */
const SMALL_BYTES = 1024

/** The pieces of a body that is coming. A body of very many very small ones takes not much more than its bytes. */
export class BodyPieces {
  readonly #pieces: Buffer[]
  /** Those that came after the last ones were joined. */
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

  /** All of them as one, which is `bytes` long. */
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
