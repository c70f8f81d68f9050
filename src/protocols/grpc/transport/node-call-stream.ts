import { constants, type ServerHttp2Stream } from 'node:http2'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'
import { ANSWER_HEAD, type AnswerHead, type CallEvents, CallStream, OK_TRAILERS } from './call-stream.ts'

/** A call on a stream of Node, which shows in several ways that a client has ended it. */
export class NodeCallStream extends CallStream {
  readonly #stream: ServerHttp2Stream
  /** Nothing more is read. */
  #isLeft = false

  constructor(stream: ServerHttp2Stream) {
    super()
    this.#stream = stream
    // An error of a stream ends it.
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

  get isOpen(): boolean {
    return !this.#stream.destroyed && !this.#stream.closed
  }

  get unsentBytes(): number {
    return this.#stream.writableLength
  }

  protected get isLeft(): boolean {
    return this.#isLeft
  }

  protected get hasBegun(): boolean {
    return this.#stream.headersSent
  }

  receive(events: CallEvents): void {
    this.#stream.on(
      'close',
      this.guard(() => events.closed()),
    )
    this.#stream.on(
      'drain',
      this.guard(() => events.drained?.()),
    )
    this.#stream.on(
      'end',
      this.guard(() => {
        if (this.isOpen && !this.#isLeft) events.ended()
      }),
    )
    this.#stream.on(
      'data',
      this.guard((piece: Buffer) => {
        if (this.isOpen && !this.#isLeft) events.data(piece)
      }),
    )
  }

  cancelWhenIdle(idleMs: number): void {
    this.#attempt(() => this.#stream.setTimeout(idleMs))
  }

  pause(): void {
    this.#stream.pause()
  }

  resume(): void {
    this.#stream.resume()
  }

  begin(): void {
    if (this.isOpen) this.#attempt(() => this.#stream.respond(ANSWER_HEAD, { waitForTrailers: true }))
  }

  write(frame: readonly Buffer[]): boolean {
    if (!this.isOpen || !this.#stream.writable) return true
    let isRead = true
    this.#attempt(() => {
      for (const piece of frame) isRead = this.#stream.write(piece)
    })
    return isRead
  }

  end(): void {
    if (this.isOpen && this.#stream.writable) this.#attempt(() => this.#stream.end())
  }

  answer(frame: readonly Buffer[]): void {
    this.#isLeft = true
    this.begin()
    this.write(frame.slice(0, -1))
    if (this.isOpen) this.#attempt(() => this.#stream.end(frame.at(-1)))
  }

  cancel(): void {
    this.#close(constants.NGHTTP2_CANCEL)
  }

  protected breakOff(): void {
    this.#close(constants.NGHTTP2_INTERNAL_ERROR)
  }

  /** After the last message: all is well. */
  #endWell(): void {
    if (this.isOpen) this.#stream.sendTrailers(OK_TRAILERS)
    this.#leave()
  }

  protected answerHead(head: AnswerHead): void {
    if (this.isOpen) this.#attempt(() => this.#stream.respond(head, { endStream: true }))
    this.#leave()
  }

  /** Nothing more of the client is read. Closed at once, the stream would lose its trailers. */
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

  /** An error that Node throws ends the stream: it was closed in the meantime, or this is a fault. */
  #attempt(run: () => void): void {
    contained('request', () => void this.#stream.destroy(), run)
  }
}
