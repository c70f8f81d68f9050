import { constants, type ServerHttp2Stream } from 'node:http2'
import { Refusal } from '../../../core/refusal.ts'
import { guarded, unawaited } from '../../../core/unexpected.ts'
import type { BodyMemory } from '../../sockets/body-memory.ts'
import { type Message, readMessage, type Sent, writeMessage } from '../wire/payload.ts'
import { ANSWER_HEAD, cutCall, endWell, refuseCall } from './call-end.ts'
import { CallError, framed, FrameReader, GRPC_STATUS } from './frames.ts'
import type { Reader, UnreadMemory } from './unread-memory.ts'

/** Clients may send contents of 10 MiB; what is around them comes on top. */
const LARGEST_BYTES = 10 * 1024 * 1024 + 256 * 1024

/** What is smaller is not counted when it is unread. */
const SMALL_BYTES = 16 * 1024

/** What requests are carried with. */
export interface UnaryParts {
  /** The answer to a request. */
  readonly answer: (message: Message) => Sent | Promise<Sent>
  /** The memory of all requests that are being received or answered. */
  readonly memory: BodyMemory
  /** That of all answers that are not read yet. */
  readonly unread: UnreadMemory
  /** Calls back once the client has read what it was sent, or is gone. */
  readonly whenRead: (done: () => void) => void
  /** Ends the connection. */
  readonly leave: () => void
  /** How long a client may send nothing of a request that it has begun. */
  readonly idleMs: number
  /** Logs a fault of the server. */
  readonly report: (error: unknown) => void
}

/** A request and its answer on a stream of their own. */
export class UnaryCall implements Reader {
  readonly #stream: ServerHttp2Stream
  readonly #parts: UnaryParts
  readonly #frames = new FrameReader(LARGEST_BYTES)
  readonly #messages: Buffer[] = []
  #bytes = 0
  #isRefused = false

  /** Begins to receive the request. */
  constructor(stream: ServerHttp2Stream, parts: UnaryParts) {
    this.#stream = stream
    this.#parts = parts
    stream.setTimeout(
      parts.idleMs,
      this.#guard(() => stream.close(constants.NGHTTP2_CANCEL)),
    )
    stream.on(
      'data',
      this.#guard((piece: Buffer) => this.#take(piece)),
    )
    stream.on(
      'end',
      this.#guard(() => this.#carryOut()),
    )
    stream.on(
      'close',
      this.#guard(() => parts.memory.release(this.#bytes)),
    )
  }

  /** A callback of this call: a fault in it ends the call. */
  #guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void {
    return guarded('request', () => cutCall(this.#stream), run)
  }

  #take(piece: Buffer): void {
    if (this.#isRefused) return
    try {
      this.#count(piece.length)
      this.#messages.push(...this.#frames.take(piece))
      if (this.#messages.length > 1) throw severalMessages()
    } catch (error) {
      this.#refuse(error)
    }
  }

  #count(bytes: number): void {
    const { memory } = this.#parts
    if (!memory.take(bytes, this.#bytes + bytes))
      throw new CallError(GRPC_STATUS.resourceExhausted, memory.refusal().message)
    this.#bytes += bytes
  }

  #carryOut(): void {
    if (this.#isRefused || this.#stream.destroyed) return
    try {
      const answer = this.#parts.answer(this.#message())
      if (!(answer instanceof Promise)) this.#send(answer)
      else unawaited('request', () => cutCall(this.#stream), this.#sendLater(answer))
    } catch (error) {
      this.#failed(error)
    }
  }

  async #sendLater(answer: Promise<Sent>): Promise<void> {
    try {
      this.#send(await answer)
    } catch (error) {
      this.#failed(error)
    }
  }

  #failed(error: unknown): void {
    if (!(error instanceof CallError)) this.#parts.report(error)
    this.#refuse(error)
  }

  #message(): Message {
    if (this.#frames.waitingBytes > 0)
      throw new CallError(GRPC_STATUS.invalidArgument, 'The message is cut off.')
    const [bytes] = this.#messages.splice(0)
    if (bytes === undefined) throw new CallError(GRPC_STATUS.unimplemented, 'A request has one message.')
    return messageIn(bytes)
  }

  #send(answer: Sent): void {
    const stream = this.#stream
    if (stream.destroyed) return
    const frame = framed(writeMessage(answer))
    if (frame.length > SMALL_BYTES) this.#watch(frame.length)
    stream.respond(ANSWER_HEAD, { waitForTrailers: true })
    stream.on(
      'wantTrailers',
      this.#guard(() => endWell(stream)),
    )
    stream.end(frame)
  }

  /** Counts an answer until its client has read it. */
  #watch(bytes: number): void {
    const { unread, whenRead } = this.#parts
    unread.count(this, bytes)
    this.#stream.on(
      'close',
      this.#guard(() => whenRead(() => unread.count(this, 0))),
    )
  }

  /** Ends the call, or the connection if the answer has left the call. */
  giveUp(): void {
    if (this.#stream.destroyed) this.#parts.leave()
    else this.#stream.close(constants.NGHTTP2_CANCEL)
  }

  #refuse(error: unknown): void {
    this.#isRefused = true
    this.#messages.length = 0
    refuseCall(this.#stream, error)
  }
}

/** The message in these bytes. Throws CallError where there is none. */
export function messageIn(bytes: Buffer): Message {
  try {
    return readMessage(bytes)
  } catch (error) {
    if (error instanceof Refusal) throw new CallError(GRPC_STATUS.resourceExhausted, error.message)
    throw new CallError(GRPC_STATUS.internal, 'The message cannot be read.')
  }
}

function severalMessages(): CallError {
  return new CallError(GRPC_STATUS.unimplemented, 'A request has one message.')
}
