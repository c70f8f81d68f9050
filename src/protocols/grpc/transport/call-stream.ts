import { failed } from '../../../core/unexpected.ts'
import { CallError, GRPC_STATUS } from './frames.ts'

/** What a call is begun with: some fields of its head. */
export interface CallHead {
  readonly path: string | undefined
  readonly method: string | undefined
  readonly contentType: string | undefined
  /** `grpc-encoding`: how messages are compressed. */
  readonly encoding: string | undefined
}

/** The fields of the head of an answer, or of its trailers. */
export type AnswerHead = Readonly<Record<string, string | number>>

/** The head of an answer. */
export const ANSWER_HEAD: AnswerHead = { ':status': 200, 'content-type': 'application/grpc' }

/** The trailers after the last message: all is well. */
export const OK_TRAILERS: AnswerHead = { 'grpc-status': `${GRPC_STATUS.ok}` }

/** What a client gets for a fault. */
const INTERNAL = new CallError(GRPC_STATUS.internal, 'internal error')

/** What may happen to a call. */
export interface CallEvents {
  /** A piece that the client has sent. Nothing follows once the call is answered. */
  data(piece: Buffer): void
  /** The client has sent all. */
  ended(): void
  /** The client has read what was sent. */
  drained?(): void
  /** The call is over, for whatever reason. Called once. */
  closed(): void
}

/**
 * The stream of HTTP/2 of a call. Its client may end it at any moment, so no method throws, whatever its
 * state. An error that a handler throws ends the call: a CallError as its answer, anything else as a fault.
 */
export abstract class CallStream {
  /** Whether an answer can still be sent. */
  abstract get isOpen(): boolean
  /** What was sent and has not left yet. */
  abstract get unsentBytes(): number
  /** Begins to receive. */
  abstract receive(events: CallEvents): void
  /** Cancels the call when nothing has happened on it for this long. */
  abstract cancelWhenIdle(idleMs: number): void
  /** Receives nothing until `resume`. */
  abstract pause(): void
  abstract resume(): void
  /** Sends the head of the answer; messages follow. */
  abstract begin(): void
  /** Sends a message in its frame, in pieces. False if messages wait to be read. */
  abstract write(frame: readonly Buffer[]): boolean
  /** All messages are sent. */
  abstract end(): void
  /** Sends an answer of one message in its frame. What the client still sends is ignored. */
  abstract answer(frame: readonly Buffer[]): void
  /** Ends the call without an answer. */
  abstract cancel(): void
  /** Whether the call is answered: what the client still sends is not read. */
  protected abstract get isLeft(): boolean
  /** Whether the head of the answer was sent. */
  protected abstract get hasBegun(): boolean
  /** Sends a head that is the whole answer. */
  protected abstract answerHead(head: AnswerHead): void
  /** Ends the call by an error in the middle of its answer. */
  protected abstract breakOff(): void

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

  /** Answers with a status of HTTP: what was called is no gRPC. */
  answerHttp(status: number): void {
    this.answerHead({ ':status': status })
  }

  /** Ends a call that cannot be carried out. Any error but a CallError is a fault, which is reported. */
  refuse(error: unknown): void {
    if (error instanceof CallError) this.#answerError(error)
    else failed('request', () => this.#answerError(INTERNAL), error)
  }

  #answerError({ status, message }: CallError): void {
    if (!this.isOpen || this.isLeft) return
    if (this.hasBegun) return this.breakOff()
    this.answerHead({
      ...ANSWER_HEAD,
      'grpc-status': `${status}`,
      'grpc-message': encodeURIComponent(message),
    })
  }
}
