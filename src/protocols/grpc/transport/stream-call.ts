import { bytesOfPieces } from '../../../core/text/long-text.ts'
import type { Outlet } from '../connections/outlet.ts'
import type { Message } from '../wire/message-reader.ts'
import type { ServerMessage } from '../wire/payload.ts'
import type { CallStream } from './call-stream.ts'
import { framed, MessageReader } from './frames.ts'
import type { Holder, OldestFirstMemory } from '../../sockets/oldest-first-memory.ts'
import { CALL_BYTES, messageIn } from './unary-call.ts'

/** The first message of a stream is a setup. */
const LARGEST_SETUP_BYTES = 16 * 1024

/** Later ones are acknowledgements. */
const LARGEST_BYTES = 64 * 1024

/** The most that a client may leave unread: with more it is too slow to be served. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024

/** Gets the messages that a client sends on its stream. */
export interface ClientStreamListener {
  received(message: Message): void
  /** The stream has ended, for whatever reason. Called once. */
  ended(): void
}

/** What a stream is carried with. */
export interface StreamCallParts {
  /** Gets the stream, and returns its listener. */
  readonly listen: (outlet: Outlet) => ClientStreamListener
  /** The memory of all messages that are not complete. */
  readonly unknown: OldestFirstMemory
  /** That of all that clients leave unread. */
  readonly unread: OldestFirstMemory
}

/** The stream that a client keeps open: it is asked, and replies. */
export class StreamCall implements Outlet, Holder {
  readonly #stream: CallStream
  readonly #frames = new MessageReader(LARGEST_SETUP_BYTES)
  readonly #parts: StreamCallParts
  /** What its messages hold is counted apart from what its client leaves unread. */
  readonly #received: Holder = { giveUp: () => this.giveUp() }
  #listener: ClientStreamListener | undefined
  /** What is unread of texts that others are sent too. */
  #sharedBytes = 0

  /** Begins to receive. */
  constructor(stream: CallStream, parts: StreamCallParts) {
    this.#stream = stream
    this.#parts = parts
    parts.unknown.count(this.#received, CALL_BYTES)
    stream.begin()
    this.#listener = parts.listen(this)
    stream.receive({
      data: (piece) => this.#take(piece),
      end: () => this.#ended(),
      drained: () => {
        this.#sharedBytes = 0
        parts.unread.release(this)
      },
      closed: () => {
        parts.unread.release(this)
        parts.unknown.count(this.#received, 0)
        this.#ended()
      },
    })
  }

  send(message: ServerMessage): boolean {
    if (this.#stream.write(framed(message))) return true
    const { unread } = this.#parts
    const { shared } = message.body
    if (shared.length > 0) {
      this.#sharedBytes += bytesOfPieces(shared)
      unread.share(this, { rest: shared })
    }
    const bytes = this.#stream.unsentBytes
    unread.count(this, Math.max(0, bytes - this.#sharedBytes))
    return bytes <= MOST_UNREAD_BYTES
  }

  giveUp(): void {
    this.#stream.cancel()
  }

  end(): void {
    this.#stream.end()
  }

  #take(piece: Buffer): void {
    try {
      for (const bytes of this.#frames.take(piece)) {
        this.#frames.largestBytes = LARGEST_BYTES
        this.#listener?.received(messageIn(bytes))
      }
    } catch (error) {
      // Bytes that are no message end the stream, and so the connection.
      this.#stream.refuse(error)
      this.#ended()
    }
    const isFirst = this.#frames.largestBytes === LARGEST_SETUP_BYTES
    this.#parts.unknown.count(this.#received, this.#frames.waitingBytes + (isFirst ? CALL_BYTES : 0))
  }

  #ended(): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.ended()
    this.end()
  }
}
