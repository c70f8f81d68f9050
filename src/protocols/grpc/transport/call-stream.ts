import { failed } from '../../../core/unexpected.ts'
import { headerBlockOf } from '@waypost/http2/header-encoder'
import { ERROR } from '@waypost/http2/protocol'
import type { Http2Stream, StreamListener } from '@waypost/http2/stream'
import { CallError, GRPC_STATUS } from './frames.ts'

/** Some fields of the head of a call. */
export interface CallHead {
  readonly path: string | undefined
  readonly method: string | undefined
  readonly contentType: string | undefined
  /** `grpc-encoding`: how messages are compressed. */
  readonly encoding: string | undefined
}

/** The fields of the head of an answer, or of its trailers. */
type AnswerHead = Readonly<Record<string, string | number>>

const ANSWER_HEAD: AnswerHead = { ':status': 200, 'content-type': 'application/grpc' }

/** The trailers after the last message: all is well. */
const OK_TRAILERS: AnswerHead = { 'grpc-status': `${GRPC_STATUS.ok}` }

const ANSWER_BLOCK = blockOf(ANSWER_HEAD)
const OK_BLOCK = blockOf(OK_TRAILERS)

/** The answer to a fault. */
const INTERNAL = new CallError(GRPC_STATUS.internal, 'internal error')

/** The events of a call. */
export interface CallEvents {
  /** A piece that the client has sent. Nothing follows once the call is answered. */
  data(piece: Buffer): void
  /** The client has sent all. */
  ended(): void
  /** The client has read everything that was sent. */
  drained?(): void
  /** The call is over, for whatever reason. Called once. */
  closed(): void
}

/** Carries the bytes of calls. */
export interface Carrier {
  /** A request of this many bytes is carried out. */
  carried(bytes: number): void
}

/**
 * The stream of HTTP/2 of a call. Its client may end it at any moment, so no method throws, whatever its
 * state. An error that a handler throws ends the call: a CallError as its answer, anything else as a fault.
 */
export class CallStream implements StreamListener {
  /** The call is answered: later data of the client is not read. */
  #isLeft = false
  /** The head of the answer was sent. */
  #hasBegun = false
  readonly #stream: Http2Stream
  #events: CallEvents | undefined
  #isPaused = false
  /** Bytes that came while nothing is received: at most the window of the stream. */
  #held: Buffer[] = []
  #hasEnded = false
  #bytes = 0
  readonly #carrier: Carrier

  constructor(stream: Http2Stream, carrier: Carrier) {
    this.#stream = stream
    this.#carrier = carrier
  }

  /** Whether an answer can still be sent. */
  get isOpen(): boolean {
    return !this.#stream.isClosed
  }

  /** The bytes that were written and have not left yet. */
  get unsentBytes(): number {
    return this.#stream.queuedBytes
  }

  /** Begins to receive. */
  receive(events: CallEvents): void {
    this.#events = events
    this.#stream.listener = this
  }

  /** Cancels the call when nothing has happened on it for this long. */
  cancelWhenIdle(idleMs: number): void {
    this.#stream.mostIdleMs = idleMs
  }

  /** See `Http2Stream.widen`. */
  widen(): void {
    this.#stream.widen()
  }

  /** Receives nothing until `resume`. */
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

  /** Sends the head of the answer; messages follow. */
  begin(): void {
    this.#hasBegun = true
    this.#stream.respond(ANSWER_BLOCK)
  }

  /** Sends a message in its frame, in pieces. False if messages wait to be read. */
  write(frame: readonly Buffer[]): boolean {
    let isRead = true
    for (const piece of frame) isRead = this.#stream.write(piece)
    return isRead
  }

  /** All messages are sent. */
  end(): void {
    this.#stream.end(OK_BLOCK)
  }

  /** Sends an answer of one message in its frame. Later data of the client is ignored. */
  answer(frame: readonly Buffer[]): void {
    this.#isLeft = true
    this.begin()
    this.write(frame)
    this.end()
  }

  /** Ends the call without an answer. */
  cancel(): void {
    this.#stream.reset(ERROR.cancel)
  }

  /** A callback of this call. A CallError that it throws is the answer, and anything else is a fault, which ends the call. */
  guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void {
    return (...args) => {
      try {
        run(...args)
      } catch (error) {
        this.refuse(error)
      }
    }
  }

  /** Answers a call that is not gRPC with a status of HTTP. */
  answerHttp(status: number): void {
    this.#answerHead({ ':status': status })
  }

  /** Ends a call that cannot be carried out. Any error but a CallError is a fault, which is reported. */
  refuse(error: unknown): void {
    if (error instanceof CallError) this.#answerError(error)
    else failed('request', () => this.#answerError(INTERNAL), error)
  }

  data(piece: Buffer): void {
    if (!this.isOpen || this.#isLeft) return
    this.#bytes += piece.length
    if (this.#isPaused) this.#held.push(Buffer.from(piece))
    else this.#try(() => this.#events?.data(piece))
  }

  ended(): void {
    this.#hasEnded = true
    if (!this.isOpen || this.#isLeft || this.#isPaused) return
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

  #answerError({ status, message }: CallError): void {
    if (!this.isOpen || this.#isLeft) return
    if (this.#hasBegun) return this.#stream.reset(ERROR.internalError)
    this.#answerHead({
      ...ANSWER_HEAD,
      'grpc-status': `${status}`,
      'grpc-message': encodeURIComponent(message),
    })
  }

  /** Sends a head that is the whole answer. */
  #answerHead(head: AnswerHead): void {
    this.#isLeft = true
    this.#stream.respond(blockOf(head))
    this.#stream.end()
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
