import type { Identity } from '../../../core/access/identity.ts'
import { Refusal } from '../../../core/refusal.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import type { Permission } from '../../../operations/guard.ts'
import type { CertificateUser } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-session.ts'
import type { ConnectionBook } from '../connections/connection-book.ts'
import { type JsonObject, parseBody } from '../wire/json.ts'
import type { Message, Sent } from '../wire/payload.ts'
import { answered, refused } from './answers.ts'
import { toldOf, TRANSPORT } from './error-codes.ts'
import type { AnyRequestType, Call } from './request-type.ts'

/** What requests are answered with. */
export interface DispatchParts {
  readonly types: readonly AnyRequestType[]
  readonly book: ConnectionBook
  readonly monotonicMs: () => number
  /** Why the server serves nobody now; undefined while it serves. */
  readonly notServing: () => string | undefined
  /** Throws a Refusal while the server does not serve requests of this kind. */
  readonly gate: (permission: Permission) => void
  /** Finds out who sends a request: at once where that is remembered. */
  readonly identify: (credentials: ClientCredentials) => Identity | Promise<Identity>
  /** Logs a fault of the server. */
  readonly report: (error: unknown, type: string) => void
  /** Called for every answer. `errorCode` 0: it was done. */
  readonly onAnswer?: (type: string, errorCode: number, elapsedMs: number) => void
}

/** What a request carries to show who sends it. */
export interface ClientCredentials {
  /** Of the header `accessToken`, or of `Authorization: Bearer`. */
  readonly token: string | undefined
  readonly certificateUser: CertificateUser | undefined
}

/** Metrics count requests of unknown types together, because their names come from clients. */
const UNKNOWN = 'unknown'

/** An answer with what metrics count of it. */
interface Outcome {
  readonly sent: Sent
  readonly counted: string
  readonly errorCode: number
}

/**
 * Answers the requests of clients. What concerns the message or the connection is an `ErrorResponse`, which makes clients
 * connect again; every other 'no' has the type of its answer. There never is an error of gRPC.
 */
export class Dispatch {
  readonly #parts: DispatchParts
  readonly #types: ReadonlyMap<string, AnyRequestType>

  constructor(parts: DispatchParts) {
    this.#parts = parts
    this.#types = new Map(parts.types.map((each) => [each.type, each]))
  }

  /** The answer to a request: at once where nothing has to be awaited. Never throws or rejects. */
  answer(message: Message, session: ClientSession): Sent | Promise<Sent> {
    const { onAnswer, monotonicMs } = this.#parts
    const beganMs = monotonicMs()
    return afterwards(this.#outcome(message, session), ({ sent, counted, errorCode }) => {
      onAnswer?.(counted, errorCode, monotonicMs() - beganMs)
      return sent
    })
  }

  #outcome(message: Message, session: ClientSession): Outcome | Promise<Outcome> {
    const { type } = message
    const reason = this.#parts.notServing()
    if (reason !== undefined) return this.#error(message, TRANSPORT.notServing, reason)
    if (type === 'ServerCheckRequest') return this.#serverCheck(message, session)
    const isHealthCheck = type === 'HealthCheckRequest'
    const known = this.#types.get(type)
    if (known === undefined && !isHealthCheck)
      return this.#error(message, TRANSPORT.unknownType, `The request type ${shown(type)} is not served.`)
    const connection = this.#parts.book.of(session.id)
    if (connection === undefined) {
      // Some clients take 301 for healthy here and would never set their connection up again.
      const code = isHealthCheck ? 500 : TRANSPORT.notSetUp
      return this.#error(message, code, 'The connection is not set up.')
    }
    connection.heardMs = this.#parts.monotonicMs()
    if (known === undefined) return this.#done(message, 'HealthCheckResponse', {})
    return this.#carryOut(known, message, { connection, session })
  }

  #serverCheck(message: Message, session: ClientSession): Outcome {
    const own = { connectionId: session.id, supportAbilityNegotiation: true }
    return this.#done(message, 'ServerCheckResponse', own)
  }

  #carryOut(
    known: AnyRequestType,
    message: Message,
    { connection, session }: { connection: Call['connection']; session: ClientSession },
  ): Outcome | Promise<Outcome> {
    const { headers } = message
    let body: JsonObject
    try {
      body = parseBody(message.body)
    } catch (error) {
      return this.#error(message, TRANSPORT.unreadable, (error as Refusal).message)
    }
    const requestId = requestIdIn(body)
    const run = (): Outcome | Promise<Outcome> => {
      this.#parts.gate(known.permission)
      return afterwards(this.#identify(headers, session), (identity) => {
        const call: Call = { connection, headers, caller: { ip: session.ip, identity } }
        return afterwards(known.run(known.read(body, call), call), (own) => ({
          sent: answered(known.answer, requestId, own),
          counted: known.type,
          errorCode: 0,
        }))
      })
    }
    return attempted(run, (error) => this.#refusal(known, requestId, error))
  }

  #identify(headers: Message['headers'], { certificateUser }: ClientSession): Identity | Promise<Identity> {
    return this.#parts.identify({ token: tokenIn(headers), certificateUser })
  }

  #refusal(known: AnyRequestType, requestId: string | undefined, error: unknown): Outcome {
    if (!(error instanceof Refusal)) this.#parts.report(error, known.type)
    const told =
      error instanceof Refusal
        ? toldOf(error)
        : { errorCode: 500, message: 'internal error, see the log of the server' }
    return { sent: refused(known.answer, requestId, told), counted: known.type, errorCode: told.errorCode }
  }

  #done(message: Message, type: string, own: object): Outcome {
    const requestId = requestIdOf(message)
    return { sent: answered(type, requestId, own), counted: message.type, errorCode: 0 }
  }

  #error(message: Message, errorCode: number, text: string): Outcome {
    const sent = refused('ErrorResponse', requestIdOf(message), { errorCode, message: text })
    const isCounted = this.#types.has(message.type) || BUILT_IN.has(message.type)
    return { sent, counted: isCounted ? message.type : UNKNOWN, errorCode }
  }
}

/** What `run` comes to, or `refuse` of what it throws or rejects with. */
function attempted<T>(run: () => T | Promise<T>, refuse: (error: unknown) => T): T | Promise<T> {
  try {
    const outcome = run()
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome
  } catch (error) {
    return refuse(error)
  }
}

const BUILT_IN: ReadonlySet<string> = new Set(['ServerCheckRequest', 'HealthCheckRequest'])

/** The id of a request that may be unreadable. */
function requestIdOf({ body }: Message): string | undefined {
  try {
    return requestIdIn(parseBody(body))
  } catch {
    return undefined
  }
}

/** Longer ids are not sent back. */
const LONGEST_ID = 256

function requestIdIn({ requestId }: JsonObject): string | undefined {
  if (typeof requestId === 'number') return `${requestId}`
  return typeof requestId === 'string' && requestId.length <= LONGEST_ID ? requestId : undefined
}

function tokenIn(headers: Message['headers']): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
  return bearer ?? (headers.get('accesstoken') || undefined)
}

function shown(type: string): string {
  return JSON.stringify(type.slice(0, 100))
}
