/** After this many pieces they are joined, if they are small. */
const JOINED = 256

/** Pieces of this size on average are not small: the 100 bytes that each costs in addition no longer matter. */
const SMALL_BYTES = 1024

/** Once this part of a declared length has arrived, memory for all of it is taken. */
const BELIEVED = 1 / 4

/**
 * The pieces of a body while it arrives. Even very many very small ones take little more memory than their
 * bytes. Where the length is declared, and a part of it has arrived, later pieces are put in their place at
 * once. So the whole is not there twice.
 */
export class BodyPieces {
  readonly #declared: number
  #pieces: Buffer[] = []
  /** Pieces since the last join. */
  #loose = 0
  #bytes = 0
  #whole: Buffer | undefined

  /** `declared`: the length of the body; NaN if it is not known. */
  constructor(declared: number) {
    this.#declared = declared
  }

  /** Adds a piece. Together they are at most as long as was declared. */
  add(piece: Buffer): void {
    this.#bytes += piece.length
    if (this.#whole !== undefined) return void piece.copy(this.#whole, this.#bytes - piece.length)
    this.#pieces.push(piece)
    const isWhole = this.#bytes === this.#declared
    if (!isWhole && this.#bytes >= this.#declared * BELIEVED) this.#place()
    else if (++this.#loose === JOINED) this.#join()
  }

  [Symbol.iterator](): Iterator<Buffer> {
    return this.#pieces.values()
  }

  /** All pieces as one buffer. */
  whole(): Buffer {
    if (this.#whole !== undefined) return this.#whole.subarray(0, this.#bytes)
    const pieces = this.#pieces
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces, this.#bytes)
  }

  #place(): void {
    const whole = Buffer.allocUnsafeSlow(this.#declared)
    let at = 0
    for (const piece of this.#pieces) at += piece.copy(whole, at)
    this.#whole = whole
    this.#pieces = []
  }

  #join(): void {
    this.#loose = 0
    const last = this.#pieces.slice(-JOINED)
    const bytes = last.reduce((sum, { length }) => sum + length, 0)
    if (bytes < JOINED * SMALL_BYTES) this.#pieces.splice(-JOINED, JOINED, Buffer.concat(last, bytes))
  }
}
