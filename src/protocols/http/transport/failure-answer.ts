import { randomUUID } from 'node:crypto'
import { Refusal } from '../../../core/refusal.ts'
import type { ExchangeContext } from './exchange-context.ts'
import type { ErrorFormat } from '../routing/route.ts'
import type { Answer } from '../routing/answer.ts'

/** The request that failed; `errors` is undefined when no route was found. */
export interface FailedRequest {
  readonly method: string
  readonly path: string
  readonly errors: ErrorFormat | undefined
}

/** Counts an error, logs it if it is a fault of the server, and returns the answer for the client. */
export function failureAnswer(
  { onRefusal, log, fallbackErrors }: ExchangeContext,
  error: unknown,
  { method, path, errors = fallbackErrors(path) }: FailedRequest,
): Answer {
  const requestId = randomUUID()
  onRefusal?.(error instanceof Refusal ? error.code : 'internal')
  if (!(error instanceof Refusal))
    log.error({ err: error, requestId, method, path }, 'a request failed by a fault of this server')
  return errors(error, { method, path, requestId })
}
