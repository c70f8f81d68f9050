import { guarded } from '../../../core/unexpected.ts'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import type { BodyMemory } from '../../sockets/body-memory.ts'
import { BodyPieces } from './body-pieces.ts'

/** Who gets a body that was asked for: exactly one of these is called, once. */
export interface BodyReceiver {
  bodyRead(body: Buffer): void
  /** The body is too large. The rest of it is read and dropped. */
  refuse(refusal: Refusal): void
  /** The client left in the middle of it. */
  bodyLost(): void
}

/** What bounds a body: its own size, and what all bodies take together. */
export interface BodyLimits {
  readonly limitBytes: number
  readonly memory: BodyMemory
}

/**
 * Collects the body of a request. A declared length above the limit is refused before anything is read. A body without
 * a length is refused at the first piece too many, which is not kept.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, receiver: BodyReceiver): void {
  const { limitBytes } = limits
  const declared = request.headers['content-length']
  if (declared !== undefined && Number(declared) > limitBytes) return receiver.refuse(tooLarge(limitBytes))
  const reading = new BodyReading(limits, receiver)
  const cut = (): void => void request.destroy()
  request.on(
    'data',
    guarded('request', cut, (piece: Buffer) => reading.add(piece)),
  )
  request.on(
    'end',
    guarded('request', cut, () => reading.end()),
  )
  request.on(
    'close',
    guarded('request', cut, () => reading.lose()),
  )
}

/** Reads the rest of a body and drops it; `onEnd` is called when all of it has arrived. */
export function dropBody(request: IncomingMessage, onEnd: () => void): void {
  if (request.readableEnded) return onEnd()
  request.on(
    'end',
    guarded('request', () => request.destroy(), onEnd),
  )
  request.resume()
}

/** The body of one request while it arrives. Its bytes count in the memory of all bodies. */
class BodyReading {
  readonly #limits: BodyLimits
  /** Undefined after it was called with the result. */
  #receiver: BodyReceiver | undefined
  #pieces: BodyPieces | undefined
  #bytes = 0

  constructor(limits: BodyLimits, receiver: BodyReceiver) {
    this.#limits = limits
    this.#receiver = receiver
  }

  add(piece: Buffer): void {
    if (this.#receiver === undefined) return
    const { limitBytes, memory } = this.#limits
    const bytes = this.#bytes + piece.length
    if (bytes > limitBytes) return this.#stop()?.refuse(tooLarge(limitBytes))
    if (!memory.take(piece.length, bytes)) return this.#stop()?.refuse(memory.refusal())
    this.#bytes = bytes
    if (this.#pieces === undefined) this.#pieces = new BodyPieces(piece)
    else this.#pieces.add(piece)
  }

  end(): void {
    const body = this.#pieces?.whole(this.#bytes) ?? Buffer.alloc(0)
    this.#stop()?.bodyRead(body)
  }

  lose(): void {
    this.#stop()?.bodyLost()
  }

  #stop(): BodyReceiver | undefined {
    const receiver = this.#receiver
    if (receiver !== undefined) this.#limits.memory.release(this.#bytes)
    this.#receiver = undefined
    this.#pieces = undefined
    return receiver
  }
}

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
