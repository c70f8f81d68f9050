import { bytesOfPieces } from '../../../core/text/long-text.ts'
import { Refusal } from '../../../core/refusal.ts'
import { type Message, NO_BYTES, readMessage, readMessageHead } from '../wire/message-reader.ts'
import type { ServerMessage } from '../wire/payload.ts'
import type { CallParts } from './call-parts.ts'
import type { CallEvents, CallStream } from './call-stream.ts'
import { CallError, framed, MessageReader, GRPC_STATUS } from './frames.ts'
import type { ConnectionSession } from './session.ts'
import type { BodyShare } from '../../sockets/body-shares.ts'
import type { Holder } from '../../sockets/held-memory.ts'

/** Clients may send contents of 10 MiB; the message around them comes on top. */
const LARGEST_BYTES = 10 * 1024 * 1024 + 256 * 1024

/** Smaller requests are not counted when they are unread, and are received from everybody. */
const SMALL_BYTES = 16 * 1024

/** The most bytes before the body (`message-reader.ts`): the head is in these, or comes after the body. */
const LARGEST_HEAD_BYTES = 128 * 1024

/** About the memory that Node holds for a call. */
export const CALL_BYTES = 8 * 1024

/** A request and its answer on a stream of their own. */
export class UnaryCall implements CallEvents, Holder {
  readonly #stream: CallStream
  readonly #session: ConnectionSession
  readonly #parts: CallParts
  readonly #frames = new MessageReader(LARGEST_BYTES)
  readonly #messages: Buffer[] = []
  /** The request, once it is carried out. */
  #asked: Message | undefined
  /** Received bytes, and the part that is counted in the memory of known callers. */
  #bytes = 0
  #countedBytes = 0
  #share: BodyShare | undefined
  /** The caller is judged before its message becomes larger. */
  #judgedBytes = SMALL_BYTES
  /** Whether it is counted in the memory of unread answers: a large answer, once it is sent. */
  #isUnread = false
  #answerBytes = 0
  #isClosed = false

  /** Begins to receive the request. */
  constructor(stream: CallStream, session: ConnectionSession, parts: CallParts) {
    this.#stream = stream
    this.#session = session
    this.#parts = parts
    this.#count()
    stream.cancelWhenIdle(parts.idleMs)
    stream.receive(this)
  }

  get owner(): string {
    return this.#session.owner
  }

  /** Ends the call, or the connection if the answer has left the call. */
  giveUp(): void {
    if (this.#isClosed) this.#session.destroy()
    else this.#stream.cancel()
  }

  data(piece: Buffer): void {
    this.#bytes += piece.length
    this.#count()
    this.#messages.push(...this.#frames.take(piece))
    if (this.#messages.length > 1) throw severalMessages()
    if (this.#frames.waitingBytes <= SMALL_BYTES) return
    if (this.#session.isKnown) this.#stream.widen()
    else if (this.#frames.waitingBytes > this.#judgedBytes) this.#judge()
  }

  #count(): void {
    const { memory, unknown } = this.#parts
    const bytes = CALL_BYTES + this.#bytes
    if (!this.#session.isKnown) return unknown.count(this, bytes)
    unknown.count(this, 0)
    this.#share ??= memory.open({ name: this.#session.owner, isStranger: false }, this.#onNoRoom)
    if (!this.#share.take(bytes - this.#countedBytes)) throw noRoom(memory.refusal())
    this.#countedBytes = bytes
  }

  /** Others have less, and need the room: also of a call that is being answered, which takes it until then. */
  readonly #onNoRoom = (refusal: Refusal): void => this.#stream.refuse(noRoom(refusal))

  closed(): void {
    const { unknown, unread } = this.#parts
    this.#isClosed = true
    this.#messages.length = 0
    this.#forgetBody()
    unknown.count(this, 0)
    this.#share?.release()
    if (!this.#isUnread) return
    // Where the call was cancelled, nothing of the answer may have left. Otherwise the client may not have read it yet.
    if (this.#stream.unsentBytes >= this.#answerBytes) unread.release(this)
    else this.#session.whenRead(() => unread.release(this))
  }

  /** A request that still waits to be read is not read. */
  #forgetBody(): void {
    if (this.#asked === undefined) return
    this.#asked.isOver = true
    this.#asked.body = NO_BYTES
  }

  /** Judges a large request by the part that has arrived, or when all has arrived if its head comes last. */
  #judge(): void {
    const head = readMessageHead(this.#frames.begun)
    const isFinal = head !== undefined || this.#frames.waitingBytes > LARGEST_HEAD_BYTES
    this.#judgedBytes = isFinal ? Infinity : 2 * this.#judgedBytes
    const refusal = this.#parts.services.judge(head, this.#session)
    if (!(refusal instanceof Promise)) return this.#judged(refusal)
    this.#stream.pause()
    refusal
      .then((made) => {
        this.#stream.resume()
        this.#judged(made)
      })
      .catch((error: unknown) => this.#stream.refuse(error))
  }

  #judged(refusal: ServerMessage | undefined): void {
    if (refusal !== undefined) {
      this.#messages.length = 0
      return this.#send(refusal)
    }
    this.#count()
    if (this.#judgedBytes === Infinity) this.#stream.widen()
  }

  ended(): void {
    this.#asked = this.#message()
    const answer = this.#parts.services.answer(this.#asked, this.#session)
    if (!(answer instanceof Promise)) this.#send(answer)
    else answer.then((made) => this.#send(made)).catch((error: unknown) => this.#stream.refuse(error))
  }

  #message(): Message {
    if (this.#frames.waitingBytes > 0)
      throw new CallError(GRPC_STATUS.invalidArgument, 'The message is cut off.')
    const [bytes] = this.#messages.splice(0)
    if (bytes === undefined) throw new CallError(GRPC_STATUS.unimplemented, 'A request has one message.')
    return messageIn(bytes)
  }

  #send(answer: ServerMessage): void {
    if (!this.#stream.isOpen) return
    const { body } = answer
    const { unread } = this.#parts
    if (body.bytes > SMALL_BYTES) {
      this.#isUnread = true
      unread.count(this, body.shared.length > 0 ? 0 : body.bytes, [body.shared])
    }
    const frame = framed(answer)
    this.#answerBytes = bytesOfPieces(frame)
    this.#stream.answer(frame)
  }
}

/** The message in these bytes. Throws CallError for other bytes. */
export function messageIn(bytes: Buffer): Message {
  try {
    return readMessage(bytes)
  } catch (error) {
    if (error instanceof Refusal) throw new CallError(GRPC_STATUS.resourceExhausted, error.message)
    throw new CallError(GRPC_STATUS.internal, 'The message cannot be read.')
  }
}

function noRoom({ message }: Refusal): CallError {
  return new CallError(GRPC_STATUS.resourceExhausted, message)
}

function severalMessages(): CallError {
  return new CallError(GRPC_STATUS.unimplemented, 'A request has one message.')
}
