import { constants, type ServerHttp2Stream } from 'node:http2'
import { guarded } from '../../../core/unexpected.ts'
import type { Outlet } from '../connections/outlet.ts'
import { type Message, type Sent, writeMessage } from '../wire/payload.ts'
import { ANSWER_HEAD, cutCall, endWell, refuseCall } from './call-end.ts'
import { CallError, framed, FrameReader } from './frames.ts'
import { messageIn } from './unary-call.ts'
import type { Reader, UnreadMemory } from './unread-memory.ts'

/** What clients send on their streams: a setup, and acknowledgements. */
const LARGEST_BYTES = 64 * 1024

/** What a client may leave unread: then it is too slow to be served. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024

/** Who gets what a client sends on its stream. */
export interface StreamListener {
  received(message: Message): void
  /** The stream has ended, whoever has ended it. Called once. */
  ended(): void
}

/** What a stream is carried with. */
export interface StreamParts {
  /** Gets the stream, and gives who listens. */
  readonly listen: (outlet: Outlet) => StreamListener
  /** The memory of all that clients leave unread. */
  readonly unread: UnreadMemory
  /** Logs a fault of the server. */
  readonly report: (error: unknown) => void
}

/** The stream that a client keeps open: it is asked, and replies. */
export class StreamCall implements Outlet, Reader {
  readonly #stream: ServerHttp2Stream
  readonly #frames = new FrameReader(LARGEST_BYTES)
  readonly #report: StreamParts['report']
  readonly #unread: UnreadMemory
  #listener: StreamListener | undefined

  /** Begins to receive. */
  constructor(stream: ServerHttp2Stream, { listen, unread, report }: StreamParts) {
    this.#stream = stream
    this.#unread = unread
    this.#report = report
    stream.respond(ANSWER_HEAD, { waitForTrailers: true })
    const guard = <Args extends unknown[]>(run: (...args: Args) => void): ((...args: Args) => void) =>
      guarded('connection', () => this.#cut(), run)
    stream.on(
      'wantTrailers',
      guard(() => endWell(stream)),
    )
    this.#listener = listen(this)
    stream.on(
      'data',
      guard((piece: Buffer) => this.#take(piece)),
    )
    stream.on(
      'end',
      guard(() => this.#ended()),
    )
    stream.on(
      'drain',
      guard(() => unread.count(this, 0)),
    )
    stream.on(
      'close',
      guard(() => this.#closed()),
    )
  }

  send(message: Sent): boolean {
    if (!this.#stream.writable) return true
    if (this.#stream.write(framed(writeMessage(message)))) return true
    const bytes = this.#stream.writableLength
    this.#unread.count(this, bytes)
    return bytes <= MOST_UNREAD_BYTES
  }

  giveUp(): void {
    this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  end(): void {
    if (this.#stream.writable) this.#stream.end()
  }

  #take(piece: Buffer): void {
    try {
      for (const bytes of this.#frames.take(piece)) this.#listener?.received(messageIn(bytes))
    } catch (error) {
      // What is no message ends the stream, and so the connection.
      if (!(error instanceof CallError)) this.#report(error)
      refuseCall(this.#stream, error)
      this.#ended()
    }
  }

  #closed(): void {
    this.#unread.count(this, 0)
    this.#ended()
  }

  #cut(): void {
    cutCall(this.#stream)
    this.#ended()
  }

  #ended(): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.ended()
    this.end()
  }
}
