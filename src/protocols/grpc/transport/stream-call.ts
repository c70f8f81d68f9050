import { bytesOfPieces } from '../../../core/text/long-text.ts'
import type { Outlet } from '../connections/client-connection.ts'
import type { ServerMessage } from '../wire/payload.ts'
import type { CallParts, ClientStreamListener } from './call-parts.ts'
import type { CallEvents, CallStream } from './call-stream.ts'
import { framed, MessageReader } from './frames.ts'
import type { ConnectionSession } from './session.ts'
import type { Holder } from '../../sockets/held-memory.ts'
import { CALL_BYTES, messageIn } from './unary-call.ts'

/** The first message of a stream is a setup. */
const LARGEST_SETUP_BYTES = 16 * 1024

/** Later ones are acknowledgements. */
const LARGEST_BYTES = 64 * 1024

/** The most that a client may leave unread: with more it is too slow to be served. */
const MOST_UNREAD_BYTES = 16 * 1024 * 1024

/** The stream that a client keeps open: it is asked, and replies. */
export class StreamCall implements CallEvents, Outlet, Holder {
  readonly #stream: CallStream
  readonly #frames = new MessageReader(LARGEST_SETUP_BYTES)
  readonly #session: ConnectionSession
  readonly #parts: CallParts
  #listener: ClientStreamListener | undefined
  /** Unread bytes of texts that others are sent too. */
  #sharedBytes = 0

  /** Begins to receive. */
  constructor(stream: CallStream, session: ConnectionSession, parts: CallParts) {
    this.#stream = stream
    this.#session = session
    this.#parts = parts
    parts.unknown.count(this, CALL_BYTES)
    stream.begin()
    this.#listener = parts.services.open(this, session)
    stream.receive(this)
  }

  get owner(): string {
    return this.#session.owner
  }

  send(message: ServerMessage): boolean {
    if (this.#stream.write(framed(message))) return true
    const { unread } = this.#parts
    const { shared } = message.body
    this.#sharedBytes += bytesOfPieces(shared)
    const bytes = this.#stream.unsentBytes
    unread.count(this, Math.max(0, bytes - this.#sharedBytes), [shared])
    return bytes <= MOST_UNREAD_BYTES
  }

  giveUp(): void {
    this.#stream.cancel()
  }

  end(): void {
    this.#stream.end()
  }

  data(piece: Buffer): void {
    try {
      for (const bytes of this.#frames.take(piece)) {
        this.#frames.largestBytes = LARGEST_BYTES
        this.#listener?.received(messageIn(bytes))
      }
    } catch (error) {
      // Bytes that are no message end the stream, and so the connection.
      this.#stream.refuse(error)
      this.ended()
    }
    const isFirst = this.#frames.largestBytes === LARGEST_SETUP_BYTES
    this.#parts.unknown.count(this, this.#frames.waitingBytes + (isFirst ? CALL_BYTES : 0))
  }

  drained(): void {
    this.#sharedBytes = 0
    this.#parts.unread.release(this)
  }

  closed(): void {
    this.#parts.unread.release(this)
    this.#parts.unknown.count(this, 0)
    this.ended()
  }

  ended(): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.ended()
    this.end()
  }
}
