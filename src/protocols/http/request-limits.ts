import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Refusal, type RefusalCode } from '../../core/refusal.ts'

/** What bounds a request besides the sizes of its parts. */
export interface RequestLimits {
  readonly maxHeaders: number
  /** Requests of one connection that wait for the answer of an earlier one. */
  readonly maxPipelinedRequests: number
}

/** Answers that wait on one connection for an earlier one; with more bytes than this, no further request is taken. */
const MOST_QUEUED_BYTES = 16 * 1024 * 1024

const QUEUE = Symbol('the answers of a connection that wait for an earlier one')

interface QueueingSocket extends Socket {
  [QUEUE]?: AnswerQueue
}

/** Refusals after which a connection ends: what is still to come on it is not worth reading. */
const ENDING: ReadonlySet<RefusalCode> = new Set([
  'too-large',
  'body-memory',
  'too-many-headers',
  'too-many-requests',
])

/** Whether the connection ends with this refusal. */
export function endsConnection(error: unknown): boolean {
  return error instanceof Refusal && ENDING.has(error.code)
}

/**
 * Why a request is not even looked at, or undefined. `ended`: it came after one that was refused, and is not
 * answered, for the connection ends with that one. Costs nothing where requests are sent one at a time.
 */
export function refusalOfRequest(
  limits: RequestLimits,
  request: IncomingMessage,
  response: ServerResponse,
): Refusal | 'ended' | undefined {
  if (request.rawHeaders.length > 2 * limits.maxHeaders) return tooManyHeaders(limits.maxHeaders)
  // Only what waits for an earlier answer has no socket yet.
  if (response.socket !== null) return undefined
  const socket: QueueingSocket = request.socket
  const queue = (socket[QUEUE] ??= new AnswerQueue(socket))
  return queue.join(response, limits.maxPipelinedRequests)
}

/** Node answers in order, so what is asked ahead is kept in memory until its turn. */
class AnswerQueue {
  readonly #waiting = new Set<ServerResponse>()
  #ended = false

  constructor(socket: Socket) {
    // Node tells only the answer whose turn it is that the connection closed; held ones that wait would not know.
    socket.on('close', () => {
      for (const response of this.#waiting) response.emit('close')
    })
  }

  join(response: ServerResponse, most: number): Refusal | 'ended' | undefined {
    if (this.#ended) return 'ended'
    let bytes = 0
    for (const waiting of this.#waiting) bytes += waiting.writableLength
    if (this.#waiting.size >= most || bytes > MOST_QUEUED_BYTES) {
      this.#ended = true
      return tooManyRequests(most)
    }
    this.#waiting.add(response)
    response.on('close', () => this.#waiting.delete(response))
    return undefined
  }
}

function tooManyRequests(most: number): Refusal {
  const allowed = `at most ${most} requests, with answers of at most ${MOST_QUEUED_BYTES} bytes`
  const message = `Ahead of their answers a connection may send ${allowed}.`
  return new Refusal('too-many-requests', message, { allowed })
}

function tooManyHeaders(most: number): Refusal {
  const allowed = `at most ${most} header fields`
  return new Refusal('too-many-headers', `A request may have ${allowed}.`, { allowed })
}

/**
 * An answer that is longer than any text can be: the client asked for too much at once, and is told so. Every
 * other error is what it is.
 */
export function tooLongToTell(error: unknown): unknown {
  if (!(error instanceof RangeError) || error.message !== 'Invalid string length') return error
  return new Refusal('too-large', 'The answer would be too large: ask for less, by a smaller page.', {
    allowed: 'an answer of less than 512 MiB',
  })
}
