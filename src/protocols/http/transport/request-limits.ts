import { Refusal, type RefusalCode } from '../../../core/refusal.ts'

/** Limits of a request besides the sizes of its parts. */
export interface RequestLimits {
  readonly maxHeaders: number
  /** Requests of one connection that wait for the answer of an earlier one; MOST_PIPELINED by default. */
  readonly maxPipelinedRequests?: number
}

/** The most requests that a connection may send before the answer to an earlier one. */
export const MOST_PIPELINED = 256

/** Refusals that end the connection: later data is not worth reading. */
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

/** The refusal of a request with more header fields than it may have. */
export function tooManyHeaders(most: number): Refusal {
  const allowed = `at most ${most} header fields`
  return new Refusal('too-many-headers', `A request may have ${allowed}.`, { allowed })
}

/**
 * Turns the error of an answer that is longer than the longest text into a refusal: the client asked for too much at
 * once. Other errors are returned as they are.
 */
export function tooLongToTell(error: unknown): unknown {
  if (!(error instanceof RangeError) || error.message !== 'Invalid string length') return error
  return new Refusal('too-large', 'The answer would be too large: ask for less, by a smaller page.', {
    allowed: 'an answer of less than 512 MiB',
  })
}

/** The refusal of a request that begins while the server stops. */
export function stopping(): Refusal {
  return new Refusal('stopping', 'The server is stopping: try again in a moment.')
}
