import { guarded } from '../../../core/unexpected.ts'
import type { IncomingMessage } from 'node:http'
import { Refusal } from '../../../core/refusal.ts'
import { ALWAYS_BYTES, type BodyOwner, type BodyShare, type BodyShares } from '../../sockets/body-shares.ts'

/** Gets a body that was asked for: exactly one of these is called, once. */
export interface BodyReceiver {
  /** The share, which counts until it is released, is undefined for a small body that came in one piece. */
  bodyRead(body: Buffer, share: BodyShare | undefined): void
  /** The body is too large, or has to give way, also after it was read. The rest of it is read and dropped. */
  refuse(refusal: Refusal): void
  /** The client left in the middle of it. */
  bodyLost(): void
  bodyOwner(): BodyOwner
}

/** The limits of a body: its own size, and the size of all bodies together. */
export interface BodyLimits {
  readonly limitBytes: number
  readonly memory: BodyShares
}

/**
 * Collects the body of a request. A declared length above the limit is refused before anything is read. A body without
 * a length is refused at the first piece too many, which is not kept.
 */
export function readBody(request: IncomingMessage, limits: BodyLimits, receiver: BodyReceiver): void {
  const { limitBytes } = limits
  const declared = Number(request.headers['content-length'] ?? NaN)
  if (declared > limitBytes) return receiver.refuse(tooLarge(limitBytes))
  const reading = new BodyReading(limits, receiver, declared)
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

/** How much of a refused body is read and dropped, so that its sender comes to read the answer. */
const MOST_DROPPED = 64 * 1024 * 1024

/** Whether the rest of a body may be more than is dropped, as far as its head says it: its connection ends with the answer. */
export function hasEndlessRest(request: IncomingMessage): boolean {
  if (request.complete || !hasBody(request)) return false
  return !(Number(request.headers['content-length']) <= MOST_DROPPED)
}

/** Reads the rest of a body and drops it; `onEnd` is called when all of it, or as much as is dropped, has arrived. */
export function dropBody(request: IncomingMessage, onEnd: () => void): void {
  if (request.readableEnded) return onEnd()
  let dropped = 0
  const cut = (): void => void request.destroy()
  request.on('end', guarded('request', cut, onEnd))
  request.on(
    'data',
    guarded('request', cut, ({ length }: Buffer) => {
      dropped += length
      if (dropped > MOST_DROPPED) onEnd()
    }),
  )
  request.resume()
}

/** The body of one request while it arrives. Its bytes count in the memory of all bodies. */
class BodyReading {
  readonly #limits: BodyLimits
  readonly #declared: number
  /** Undefined once it is over: Node keeps the listeners of a request, and their references, for longer. */
  #receiver: BodyReceiver | undefined
  #share: BodyShare | undefined
  #pieces: BodyPieces | undefined
  #bytes = 0

  /** `declared`: the length of the body; NaN if it is not known. */
  constructor(limits: BodyLimits, receiver: BodyReceiver, declared: number) {
    this.#limits = limits
    this.#receiver = receiver
    this.#declared = declared
  }

  add(piece: Buffer): void {
    const receiver = this.#receiver
    if (receiver === undefined) return
    const { limitBytes, memory } = this.#limits
    const bytes = this.#bytes + piece.length
    if (bytes > limitBytes) return this.#refuse(tooLarge(limitBytes))
    // Nearly all bodies are small and come in one piece: they are always accepted, used at once, and not counted.
    const isCounted = bytes > ALWAYS_BYTES || bytes !== piece.length || bytes !== this.#declared
    if (isCounted && !this.#shareOf(receiver).take(piece.length)) return this.#refuse(memory.refusal())
    this.#bytes = bytes
    this.#pieces ??= new BodyPieces(this.#declared)
    this.#pieces.add(piece)
  }

  end(): void {
    const body = this.#pieces?.whole() ?? Buffer.alloc(0)
    const share = this.#share
    this.#stop()?.bodyRead(body, share)
  }

  lose(): void {
    this.#share?.release()
    this.#stop()?.bodyLost()
  }

  #refuse(refusal: Refusal): void {
    this.#share?.release()
    this.#stop()?.refuse(refusal)
  }

  #shareOf(receiver: BodyReceiver): BodyShare {
    return (this.#share ??= this.#limits.memory.open(receiver.bodyOwner(), (refusal) => {
      this.#stop()
      receiver.refuse(refusal)
    }))
  }

  #stop(): BodyReceiver | undefined {
    const receiver = this.#receiver
    this.#receiver = undefined
    this.#share = undefined
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

function tooLarge(limitBytes: number): Refusal {
  const allowed = `at most ${limitBytes} bytes`
  return new Refusal('too-large', `The body of this request may have ${allowed}.`, { allowed })
}

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
