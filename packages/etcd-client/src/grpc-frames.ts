import { GRPC, GrpcError } from './grpc-error.ts'

/** The prefix of each message: a byte for compression, and four bytes of length. */
const PREFIX_BYTES = 5
/** No answer of etcd is larger. A greater length is invalid. */
const MOST_BYTES = 512 * 1024 * 1024

/** A message as it is sent. */
export function framed(message: Uint8Array): Buffer {
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + message.length)
  frame[0] = 0
  frame.writeUInt32BE(message.length, 1)
  frame.set(message, PREFIX_BYTES)
  return frame
}

/** Finds the messages in the bytes of an answer, however they are cut. */
export class MessageReader {
  #chunks: Buffer[] = []
  #length = 0
  /** The bytes of the next message with its prefix; until that length is known, the bytes of the prefix. */
  #needed = PREFIX_BYTES

  /** The messages that these bytes complete. They are parts of the chunks where that is possible. */
  add(chunk: Buffer): Uint8Array[] {
    this.#chunks.push(chunk)
    this.#length += chunk.length
    const messages: Uint8Array[] = []
    while (this.#length >= this.#needed) {
      const bytes = this.#joined()
      if (this.#needed === PREFIX_BYTES) this.#needed = PREFIX_BYTES + lengthOf(bytes)
      if (bytes.length < this.#needed) break
      messages.push(bytes.subarray(PREFIX_BYTES, this.#needed))
      this.#keep(bytes.subarray(this.#needed))
    }
    return messages
  }

  /** Whether a message has begun that is not complete. */
  get isWithin(): boolean {
    return this.#length > 0
  }

  #joined(): Buffer {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks, this.#length)]
    return this.#chunks[0]!
  }

  #keep(rest: Buffer): void {
    this.#chunks = rest.length > 0 ? [rest] : []
    this.#length = rest.length
    this.#needed = PREFIX_BYTES
  }
}

function lengthOf(bytes: Buffer): number {
  if (bytes[0] !== 0) throw new GrpcError(GRPC.INTERNAL, 'the answer is compressed, which was not asked for')
  const length = bytes.readUInt32BE(1)
  if (length > MOST_BYTES)
    throw new GrpcError(GRPC.RESOURCE_EXHAUSTED, `the answer has a message of ${length} bytes`)
  return length
}
