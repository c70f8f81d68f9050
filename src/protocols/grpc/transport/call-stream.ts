import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { contained, failed, guarded, nothing } from '../../../core/unexpected.ts'
import { CallError, GRPC_STATUS } from './frames.ts'

/** The head of an answer. */
const ANSWER_HEAD: OutgoingHttpHeaders = { ':status': 200, 'content-type': 'application/grpc' }

/** What a client gets for a fault. */
const INTERNAL = new CallError(GRPC_STATUS.internal, 'internal error')

/** What may happen to a call. */
export interface CallEvents {
  /** A piece of what the client sends; no more once the call is answered. */
  readonly data: (piece: Buffer) => void
  /** The client has sent all. */
  readonly end: () => void
  /** The client has read what was sent. */
  readonly drained?: () => void
  /** The call is over, whoever has ended it. Called once. */
  readonly closed: () => void
}

/**
 * The stream of HTTP/2 of a call. Its client may end it at any moment, which Node shows in several ways. So whatever has become
 * of it, no method throws, and what a handler throws ends the call: a CallError as its answer, anything else as a fault.
 */
export class CallStream {
  readonly #stream: ServerHttp2Stream
  /** Nothing more is read. */
  #isLeft = false

  constructor(stream: ServerHttp2Stream) {
    this.#stream = stream
    // What is wrong with a stream ends it.
    stream.on('error', nothing)
    // Node leaves a stream open that its client has reset without an error. Here it still works on it.
    const destroy = guarded('request', nothing, () => void stream.destroy())
    stream.on(
      'aborted',
      this.guard(() => process.nextTick(destroy)),
    )
    stream.on(
      'timeout',
      this.guard(() => this.cancel()),
    )
    stream.on(
      'wantTrailers',
      this.guard(() => this.#endWell()),
    )
    if (stream.closed) stream.destroy()
  }

  /** Whether an answer can still be sent. */
  get isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }

  /** What was sent and has not left yet. */
  get unsentBytes(): number {
    return this.#stream.writableLength
  }

  /** Begins to receive. */
  receive({ data, end, drained, closed }: CallEvents): void {
    this.#stream.on('close', this.guard(closed))
    if (drained !== undefined) this.#stream.on('drain', this.guard(drained))
    this.#stream.on(
      'end',
      this.guard(() => {
        if (this.isOpen && !this.#isLeft) end()
      }),
    )
    this.#stream.on(
      'data',
      this.guard((piece: Buffer) => {
        if (this.isOpen && !this.#isLeft) data(piece)
      }),
    )
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

  /** Cancels the call when nothing has happened on it for this long. */
  cancelWhenIdle(idleMs: number): void {
    this.#attempt(() => this.#stream.setTimeout(idleMs))
  }

  /** Receives nothing until `resume`. */
  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  /** Sends the head of the answer; messages follow. */
  begin(): void {
    if (this.isOpen) this.#attempt(() => this.#stream.respond(ANSWER_HEAD, { waitForTrailers: true }))
  }

  /** Sends a message in its frame, in pieces. False if messages wait to be read. */
  write(frame: readonly Buffer[]): boolean {
    if (!this.isOpen || !this.#stream.writable) return true
    let isRead = true
    this.#attempt(() => {
      for (const piece of frame) isRead = this.#stream.write(piece)
    })
    return isRead
  }

  /** All messages are sent. */
  end(): void {
    if (this.isOpen && this.#stream.writable) this.#attempt(() => this.#stream.end())
  }

  /** Sends an answer of one message in its frame. What the client still sends is ignored. */
  answer(frame: readonly Buffer[]): void {
    this.#isLeft = true
    this.begin()
    this.write(frame.slice(0, -1))
    if (this.isOpen) this.#attempt(() => this.#stream.end(frame.at(-1)))
  }

  /** Answers with a status of HTTP: what was called is no gRPC. */
  answerHttp(status: number): void {
    this.#answerHead({ ':status': status })
  }

  /** Ends a call that cannot be carried out. What is no CallError is a fault, which is reported. */
  refuse(error: unknown): void {
    if (error instanceof CallError) this.#answerError(error)
    else failed('request', () => this.#answerError(INTERNAL), error)
  }

  #answerError({ status, message }: CallError): void {
    if (!this.isOpen || this.#isLeft) return
    if (this.#stream.headersSent) return this.#close(constants.NGHTTP2_INTERNAL_ERROR)
    this.#answerHead({
      ...ANSWER_HEAD,
      'grpc-status': `${status}`,
      'grpc-message': encodeURIComponent(message),
    })
  }

  /** Ends the call without an answer. */
  cancel(): void {
    this.#close(constants.NGHTTP2_CANCEL)
  }

  /** After the last message: all is well. */
  #endWell(): void {
    if (this.isOpen) this.#stream.sendTrailers({ 'grpc-status': `${GRPC_STATUS.ok}` })
    this.#leave()
  }

  #answerHead(head: OutgoingHttpHeaders): void {
    if (this.isOpen) this.#attempt(() => this.#stream.respond(head, { endStream: true }))
    this.#leave()
  }

  /** What the client still sends is not read any more. Closed at once, the stream would lose its trailers. */
  #leave(): void {
    this.#isLeft = true
    if (this.#stream.readableEnded) return
    const close = (): void => {
      if (this.#stream.destroyed) return
      this.#close(constants.NGHTTP2_NO_ERROR)
      this.#stream.destroy()
    }
    setImmediate(guarded('request', () => void this.#stream.destroy(), close))
  }

  #close(code: number): void {
    if (!this.#stream.closed) this.#attempt(() => this.#stream.close(code))
  }

  /** What Node throws ends the stream: it was closed in the meantime, or this is a fault. */
  #attempt(run: () => void): void {
    contained('request', () => void this.#stream.destroy(), run)
  }
}
