import type { BlockList } from 'node:net'
import type { CommonHeaders } from '../routing/answer.ts'
import type { HttpCaller, ErrorFormat, Route, Answer } from '../routing/route.ts'
import type { OldestFirstMemory } from '../../sockets/held-memory.ts'
import type { BodyShares } from '../../sockets/body-shares.ts'
import type { CrossSiteGuard } from './cross-site-guard.ts'
import type { Identification } from './identification.ts'
import type { RequestLimits } from './request-limits.ts'
import type { Router } from '../routing/router.ts'
import type { Turn } from './turn.ts'
import type { UploadPlaces } from './upload-places.ts'
import { randomUUID } from 'node:crypto'
import { Refusal } from '../../../core/refusal.ts'

/** Gets the errors of requests that failed by a fault of the server. */
export interface HttpLog {
  error(facts: object, text: string): void
  warn(facts: object, text: string): void
}

/** Dependencies of the exchanges of a server. */
export interface ExchangeContext {
  readonly router: Router
  readonly trusted: BlockList
  readonly maxParameters: number
  readonly limits: RequestLimits
  /** Judges a request first of all. */
  readonly guard: CrossSiteGuard
  readonly bodyMemory: BodyShares
  /** The memory of all answers that are not read yet. */
  readonly unread: OldestFirstMemory
  /** The error format of a path without a route. */
  readonly fallbackErrors: (path: string) => ErrorFormat
  /** Judges a request once its route is known and before its body is read; an answer, or a Refusal thrown, ends it. */
  readonly gate: ((route: Route, rawUrl: string, caller: HttpCaller) => Answer | undefined) | undefined
  /** Finds out who sends requests; undefined while nobody has to sign in. */
  readonly identification: Identification | undefined
  readonly onAnswer: ((route: Route | undefined, status: number, elapsedMs: number) => void) | undefined
  readonly onRefusal: ((code: string) => void) | undefined
  readonly log: HttpLog
  readonly commonHeaders: CommonHeaders
  /** Requests that are read and will be handled at the end of this turn of the event loop. */
  readonly turn: Turn
  /** Requests that are not answered yet. */
  inFlight: number
  readonly uploads: UploadPlaces
  /** Set while the server stops: requests that begin are refused, and the last answer of a connection ends it. */
  stopping: boolean
}

/** The request that failed; `errors` is undefined when no route was found. */
interface FailedRequest {
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
