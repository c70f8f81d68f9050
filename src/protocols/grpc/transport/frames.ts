import { bytesOfPieces } from '../../../core/text/long-text.ts'
import { type ServerMessage, writeMessage } from '../wire/payload.ts'

/** The statuses of gRPC. */
export const GRPC_STATUS = {
  ok: 0,
  invalidArgument: 3,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
} as const

/** Why a call cannot be carried out: its frames or their contents. */
export class CallError extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** A byte that says whether the message is compressed, and four with its length. */
const HEAD_BYTES = 5

const NO_BYTES = Buffer.alloc(0)

/** Smaller pieces are joined at once: each that is kept costs about a hundred bytes more than it has. */
const SMALL_BYTES = 4_096

/** Puts the messages of a stream together. */
export class MessageReader {
  /** The largest message that may begin now. */
  largestBytes: number
  #pieces: Buffer[] = []
  #bytes = 0

  constructor(largestBytes: number) {
    this.largestBytes = largestBytes
  }

  /** How many pieces are kept. */
  get waitingPieces(): number {
    return this.#pieces.length
  }

  /** Bytes of a message that is not complete. */
  get waitingBytes(): number {
    return this.#bytes
  }

  /** The bytes so far of the message that is not complete. */
  get begun(): Buffer {
    return this.#bytes <= HEAD_BYTES ? NO_BYTES : this.#joined().subarray(HEAD_BYTES)
  }

  /** The messages that a piece completes, one after the other. Throws CallError for one that is too large or compressed. */
  *take(piece: Buffer): Generator<Buffer, void, void> {
    this.#keep(piece)
    this.#bytes += piece.length
    for (let next = this.#next(); next !== undefined; next = this.#next()) yield next
  }

  #keep(piece: Buffer): void {
    const last = this.#pieces.at(-1)
    if (last === undefined || last.length + piece.length > SMALL_BYTES) this.#pieces.push(kept(piece))
    else this.#pieces[this.#pieces.length - 1] = Buffer.concat([last, piece])
  }

  #next(): Buffer | undefined {
    if (this.#bytes < HEAD_BYTES) return undefined
    const length = this.#lengthOf(this.#head())
    if (this.#bytes < HEAD_BYTES + length) return undefined
    const all = this.#joined()
    const rest = all.subarray(HEAD_BYTES + length)
    this.#pieces = rest.length === 0 ? [] : [rest]
    this.#bytes = rest.length
    return all.subarray(HEAD_BYTES, HEAD_BYTES + length)
  }

  #lengthOf(head: Buffer): number {
    if (head[0] !== 0) throw new CallError(GRPC_STATUS.unimplemented, 'Compressed messages are not served.')
    const length = head.readUInt32BE(1)
    if (length <= this.largestBytes) return length
    throw new CallError(
      GRPC_STATUS.resourceExhausted,
      `A message may have at most ${this.largestBytes} bytes.`,
    )
  }

  /** The bytes from the head of a message on. Pieces are joined once they are a whole message, not with each piece. */
  #head(): Buffer {
    const [first] = this.#pieces
    return first !== undefined && first.length >= HEAD_BYTES ? first : this.#joined()
  }

  #joined(): Buffer {
    if (this.#pieces.length > 1) this.#pieces = [Buffer.concat(this.#pieces)]
    return this.#pieces[0]!
  }
}

/** A piece is a view of all that came at once. Where that is much more, a copy is kept. */
function kept(piece: Buffer): Buffer {
  const { byteLength } = piece.buffer
  return byteLength > SMALL_BYTES && piece.length < byteLength / 2 ? Buffer.from(piece) : piece
}

/** A message in its frame, in pieces. */
export function framed(message: ServerMessage): readonly Buffer[] {
  const pieces = writeMessage(message, HEAD_BYTES)
  const [first] = pieces
  first[0] = 0
  first.writeUInt32BE(bytesOfPieces(pieces) - HEAD_BYTES, 1)
  return pieces
}
