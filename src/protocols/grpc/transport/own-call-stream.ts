import { headerBlockOf } from '../../../http2/header-encoder.ts'
import { ERROR } from '../../../http2/protocol.ts'
import type { Http2Stream, StreamListener } from '../../../http2/stream.ts'
import { ANSWER_HEAD, type AnswerHead, type CallEvents, CallStream, OK_TRAILERS } from './call-stream.ts'

const ANSWER_BLOCK = blockOf(ANSWER_HEAD)
const OK_BLOCK = blockOf(OK_TRAILERS)

/** Carries the bytes of calls. */
export interface Carrier {
  /** A request of this many bytes is carried out. */
  carried(bytes: number): void
}

/** A call on a stream of the server's own HTTP/2, to which it listens. */
export class OwnCallStream extends CallStream implements StreamListener {
  protected isLeft = false
  protected hasBegun = false
  readonly #stream: Http2Stream
  #events: CallEvents | undefined
  #isPaused = false
  /** Bytes that came while nothing is received: at most the window of the stream. */
  #held: Buffer[] = []
  #hasEnded = false
  #bytes = 0
  readonly #carrier: Carrier

  constructor(stream: Http2Stream, carrier: Carrier) {
    super()
    this.#stream = stream
    this.#carrier = carrier
  }

  get isOpen(): boolean {
    return !this.#stream.isClosed
  }

  get unsentBytes(): number {
    return this.#stream.queuedBytes
  }

  receive(events: CallEvents): void {
    this.#events = events
    this.#stream.listener = this
  }

  cancelWhenIdle(idleMs: number): void {
    this.#stream.mostIdleMs = idleMs
  }

  pause(): void {
    this.#isPaused = true
    this.#stream.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.#stream.resume()
    for (const piece of this.#held.splice(0)) this.data(piece)
    if (this.#hasEnded) this.ended()
  }

  begin(): void {
    this.hasBegun = true
    this.#stream.respond(ANSWER_BLOCK)
  }

  write(frame: readonly Buffer[]): boolean {
    let isRead = true
    for (const piece of frame) isRead = this.#stream.write(piece)
    return isRead
  }

  end(): void {
    this.#stream.end(OK_BLOCK)
  }

  answer(frame: readonly Buffer[]): void {
    this.isLeft = true
    this.begin()
    this.write(frame)
    this.end()
  }

  cancel(): void {
    this.#stream.reset(ERROR.cancel)
  }

  protected breakOff(): void {
    this.#stream.reset(ERROR.internalError)
  }

  protected answerHead(head: AnswerHead): void {
    this.isLeft = true
    this.#stream.respond(blockOf(head))
    this.#stream.end()
  }

  data(piece: Buffer): void {
    if (!this.isOpen || this.isLeft) return
    this.#bytes += piece.length
    if (this.#isPaused) this.#held.push(Buffer.from(piece))
    else this.#try(() => this.#events?.data(piece))
  }

  ended(): void {
    this.#hasEnded = true
    if (!this.isOpen || this.isLeft || this.#isPaused) return
    this.#hasEnded = false
    this.#carrier.carried(this.#bytes)
    this.#try(() => this.#events?.ended())
  }

  drained(): void {
    this.#try(() => this.#events?.drained?.())
  }

  closed(): void {
    this.#try(() => this.#events?.closed())
  }

  #try(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.refuse(error)
    }
  }
}

/** The head of an answer as a header block. */
function blockOf(head: AnswerHead): Buffer {
  return headerBlockOf(Object.entries(head).map(([name, value]) => ({ name, value: `${value}` })))
}
