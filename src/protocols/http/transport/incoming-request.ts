import { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import type { BodyMemory } from './body-memory.ts'
import { BodyPieces } from './body-pieces.ts'

/** Who gets a body that was asked for: exactly one of these is called, once. */
export interface BodyReceiver {
  bodyRead(body: Buffer): void
  /** The body is too large. What remains of it has not been read. */
  refuse(refusal: Refusal): void
  /** The client left in the middle of it. */
  bodyLost(): void
}

/** What bounds a body: its own size, and what all bodies take together. */
export interface BodyLimits {
  readonly limitBytes: number
  readonly memory: BodyMemory
}

interface Reading extends BodyLimits {
  readonly receiver: BodyReceiver
}

/** Bytes that may come before anybody has asked for them; after that the client has to wait. */
const MOST_UNASKED = 16 * 1024

/**
 * A request whose body goes the shortest way to whom it is for. Node hands each piece to `push`; what a stream does
 * with it from there, events that have their order over several turns, costs a fifth of a small request, and nobody
 * here reads a request as a stream (docs/decisions/0012).
 */
export class IncomingRequest extends IncomingMessage {
  #reading: Reading | undefined
  #pieces: BodyPieces | undefined
  /** Bytes of the pieces. While the body is read they count in the memory of all bodies. */
  #bytes = 0
  #isUnwanted = false
  #onEnd: (() => void) | undefined

  /**
   * Collects the body, of at most `limitBytes`. A declared length above that is refused before anything is read.
   * A body that comes without a length is refused at the first chunk too many, which is not kept.
   */
  readBody(limits: BodyLimits, receiver: BodyReceiver): void {
    const { limitBytes, memory } = limits
    const declared = this.headers['content-length']
    if (declared !== undefined && Number(declared) > limitBytes) return receiver.refuse(tooLarge(limitBytes))
    const unasked = this.#pieces
    this.#pieces = undefined
    this.#bytes = 0
    this.#reading = { limitBytes, memory, receiver }
    if (unasked !== undefined) for (const piece of unasked) this.push(piece)
    if (this.complete) this.push(null)
    else this._read(0)
  }

  /** Lets the rest of the body in without keeping it; `onEnd` is told when all of it has come. */
  dropBody(onEnd?: () => void): void {
    this.#isUnwanted = true
    this.#pieces = undefined
    this.#onEnd = onEnd
    if (this.complete) this.push(null)
    else this._read(0)
  }

  /**
   * Takes the next piece of the body, and null after the last one. After false node reads nothing more of the
   * connection until `_read`.
   */
  override push(chunk: Buffer | null): boolean {
    if (chunk === null) {
      this.#end()
      return false
    }
    if (this.#isUnwanted) return true
    const bytes = this.#bytes + chunk.length
    if (this.#reading !== undefined && !this.#mayKeep(this.#reading, chunk.length)) return true
    this.#bytes = bytes
    if (this.#pieces === undefined) this.#pieces = new BodyPieces(chunk)
    else this.#pieces.add(chunk)
    return this.#reading !== undefined || bytes < MOST_UNASKED
  }

  /** Node calls it once the answer is sent. */
  _dump(): void {
    if (!this.complete) this.dropBody()
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#stopReading()?.receiver.bodyLost()
    super._destroy(error, done)
  }

  #mayKeep(reading: Reading, moreBytes: number): boolean {
    const { limitBytes, memory } = reading
    const bytes = this.#bytes + moreBytes
    if (bytes <= limitBytes && memory.take(moreBytes, bytes)) return true
    this.#stopReading()
    this.#isUnwanted = true
    reading.receiver.refuse(bytes > limitBytes ? tooLarge(limitBytes) : memory.refusal())
    return false
  }

  #end(): void {
    if (this.#reading !== undefined) {
      const body = this.#pieces?.whole(this.#bytes) ?? Buffer.alloc(0)
      this.#stopReading()?.receiver.bodyRead(body)
    }
    const onEnd = this.#onEnd
    this.#onEnd = undefined
    onEnd?.()
    // Node waits for it to forget a request that was answered before all of it had come.
    if (this.#isUnwanted) this.emit('end')
  }

  #stopReading(): Reading | undefined {
    const reading = this.#reading
    if (reading === undefined) return undefined
    reading.memory.release(this.#bytes)
    this.#reading = undefined
    this.#pieces = undefined
    this.#bytes = 0
    return reading
  }
}

/** Whether node may forget the request: a stream says so once it was read to its end. */
Object.defineProperty(IncomingRequest.prototype, 'readableEnded', {
  get(this: IncomingRequest) {
    return this.complete
  },
})

/** Whether the request carries a body of any kind. */
export function hasBody({ headers }: IncomingMessage): boolean {
  if (headers['transfer-encoding'] !== undefined) return true
  const length = headers['content-length']
  return length !== undefined && length !== '0'
}

/** Whether the request carries a form body; other bodies hold no parameters and are not read. */
export function hasForm(request: IncomingMessage): boolean {
  if (!hasBody(request)) return false
  const contentType = request.headers['content-type']
  return contentType === undefined || contentType === '' || FORM.test(contentType)
}

/** Whatever charset it claims: forms are UTF-8. */
const FORM = /^\s*application\/x-www-form-urlencoded\s*(;|$)/i

function tooLarge(limitBytes: number): Refusal {
  const allowed = `at most ${limitBytes} bytes`
  return new Refusal('too-large', `The body of this request may have ${allowed}.`, { allowed })
}
