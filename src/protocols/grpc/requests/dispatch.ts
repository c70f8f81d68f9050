import type { Identity } from '../../../core/access/identity.ts'
import { turnOf } from '../../../core/access/turn-of.ts'
import { Refusal } from '../../../core/refusal.ts'
import { CallerGone } from '../../../core/work/fair-queue.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import type { Permission, Caller } from '../../../operations/authorisation.ts'
import type { CertificateUser } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-connection.ts'
import type { ConnectionBook } from '../connections/connection-book.ts'
import type { StreamConnection } from '../connections/stream-connection.ts'
import { parseBody } from '../wire/body-reader.ts'
import type { JsonObject } from '../wire/json.ts'
import type { Message, MessageHead } from '../wire/message-reader.ts'
import type { ServerMessage } from '../wire/payload.ts'
import { answered, refused, sentError, TRANSPORT } from './answers.ts'
import type { BodyTurns } from './body-turns.ts'
import { AnsweredNo, type AnyRequestType, type RequestContext } from './request-type.ts'

/** Dependencies of {@link Dispatch}. */
export interface DispatchParts {
  readonly types: readonly AnyRequestType[]
  readonly book: ConnectionBook
  readonly bodies: BodyTurns
  readonly monotonicMs: () => number
  /** Why the server serves nobody now; undefined while it serves. */
  readonly notServing: () => string | undefined
  /** Throws a Refusal while the server does not serve requests of this kind. */
  readonly gate: (permission: Permission) => void
  /** Finds out who sends a request: at once where that is remembered. */
  readonly identify: (credentials: ClientCredentials) => Identity | Promise<Identity>
  /** Refuses callers who do not count, whatever they ask for; undefined while nobody has to sign in. */
  readonly strangers: Strangers | undefined
  /** Called with the credentials of the client of a connection, before they are judged. */
  readonly onShown?: ((connection: StreamConnection, identity: Identity) => void) | undefined
  /** Logs a fault of the server. */
  readonly report: (error: unknown, type: string) => void
  /** Called for every answer. `errorCode` 0: it was done. */
  readonly onAnswer?: (type: string, errorCode: number, elapsedMs: number) => void
}

/** Refuses callers who do not count. */
export interface Strangers {
  /** Why a caller does not count; undefined where it does. */
  refusalOf(identity: Identity): Refusal | undefined
  /** Records that a request was refused before its body was read. */
  refusedUnread(caller: Caller, permission: Permission, refusal: Refusal): void
}

/** The credentials in a request. */
export interface ClientCredentials {
  /** From the header `accessToken`, or from `Authorization: Bearer`. */
  readonly token: string | undefined
  readonly certificateUser: CertificateUser | undefined
}

/** Metrics count requests of unknown types together, because their names come from clients. */
const UNKNOWN = 'unknown'

/** An answer with the facts for metrics. */
interface CountedAnswer {
  readonly sent: ServerMessage
  /** Undefined: it is not counted, because its call is over. */
  readonly counted: string | undefined
  readonly errorCode: number
}

/** A request, or as much of it as has come. */
type ReceivedRequest = MessageHead & { readonly body: Uint8Array | undefined }

/** A request that passed every check that needs no body. */
interface Admitted {
  readonly known: AnyRequestType
  readonly call: RequestContext
  /** Set for a caller who does not count: it gets this refusal, whatever its request says. */
  readonly refusal: Refusal | undefined
}

/**
 * Answers the requests of clients. An error of the message or the connection is an `ErrorResponse`, which makes clients
 * connect again; every other 'no' has the type of its answer. It never answers an error of gRPC.
 */
export class Dispatch {
  readonly #parts: DispatchParts
  readonly #types: ReadonlyMap<string, AnyRequestType>

  constructor(parts: DispatchParts) {
    this.#parts = parts
    this.#types = new Map(parts.types.map((each) => [each.type, each]))
  }

  /** The answer to a request: at once where nothing has to be awaited. Never throws or rejects. */
  answer(message: Message, session: ClientSession): ServerMessage | Promise<ServerMessage> {
    const beganMs = this.#parts.monotonicMs()
    const outcome = afterwards(this.#judged(message, session), (judged) =>
      'sent' in judged ? judged : this.#carryOut(judged, message),
    )
    return afterwards(outcome, (each) => this.#counted(each, beganMs))
  }

  /**
   * The refusal of a request whose head is enough to refuse it; undefined: the body is read. Call it when the head of a
   * large request has come. Without a head only the connection is judged. Never throws or rejects.
   */
  judge(
    head: MessageHead | undefined,
    session: ClientSession,
  ): ServerMessage | undefined | Promise<ServerMessage | undefined> {
    const beganMs = this.#parts.monotonicMs()
    if (head === undefined) {
      if (this.#parts.book.of(session.id) !== undefined) return undefined
      return this.#counted(this.#error(NOTHING, TRANSPORT.notSetUp, NOT_SET_UP), beganMs)
    }
    return afterwards(this.#judged({ ...head, body: undefined }, session), (judged) => {
      if ('sent' in judged) return this.#counted(judged, beganMs)
      return judged.refusal && this.#counted(this.#unread(judged, judged.refusal), beganMs)
    })
  }

  #counted({ sent, counted, errorCode }: CountedAnswer, beganMs: number): ServerMessage {
    if (counted !== undefined) this.#parts.onAnswer?.(counted, errorCode, this.#parts.monotonicMs() - beganMs)
    return sent
  }

  /** Judges a request by everything but its body. */
  #judged(
    request: ReceivedRequest,
    session: ClientSession,
  ): CountedAnswer | Admitted | Promise<CountedAnswer | Admitted> {
    const { type } = request
    const reason = this.#parts.notServing()
    if (reason !== undefined) return this.#error(request, TRANSPORT.notServing, reason)
    if (type === 'ServerCheckRequest') return this.#serverCheck(request, session)
    const isHealthCheck = type === 'HealthCheckRequest'
    const known = this.#types.get(type)
    if (known === undefined && !isHealthCheck)
      return this.#error(request, TRANSPORT.unknownType, `The request type ${shown(type)} is not served.`)
    const connection = this.#parts.book.of(session.id)
    // Some clients take 301 for healthy here and would never set their connection up again.
    if (connection === undefined)
      return this.#error(request, isHealthCheck ? 500 : TRANSPORT.notSetUp, NOT_SET_UP)
    connection.heardMs = this.#parts.monotonicMs()
    if (known === undefined) return this.#done(request, 'HealthCheckResponse', {})
    return this.#admitted(known, request, { connection, session })
  }

  #serverCheck(request: ReceivedRequest, session: ClientSession): CountedAnswer {
    const own = { connectionId: session.id, supportAbilityNegotiation: true }
    return this.#done(request, 'ServerCheckResponse', own)
  }

  #admitted(
    known: AnyRequestType,
    request: ReceivedRequest,
    { connection, session }: { connection: StreamConnection; session: ClientSession },
  ): CountedAnswer | Admitted | Promise<CountedAnswer | Admitted> {
    const { strangers, gate, identify, onShown } = this.#parts
    const { headers } = request
    const run = (): Admitted | Promise<Admitted> => {
      gate(known.permission)
      const credentials = { token: tokenIn(headers), certificateUser: session.certificateUser }
      return afterwards(identify(credentials), (identity) => {
        const refusal = strangers?.refusalOf(identity)
        if (refusal === undefined && !session.isKnown) nowKnown(session, identity)
        onShown?.(connection, identity)
        return { known, call: { connection, headers, caller: { ip: session.ip, identity } }, refusal }
      })
    }
    return attempted<CountedAnswer | Admitted>(run, (error) =>
      this.#refusal(known, requestIdOf(request), error),
    )
  }

  #carryOut(admitted: Admitted, message: Message): CountedAnswer | Promise<CountedAnswer> {
    const { call, refusal } = admitted
    if (refusal !== undefined && message.body.length > MOST_UNKNOWN_BYTES)
      return this.#unread(admitted, refusal)
    const notRead = (error: unknown): CountedAnswer => this.#notRead(admitted, message, error)
    try {
      const body = this.#parts.bodies.read(turnOf(call.caller), call.connection, message)
      if (!(body instanceof Promise)) return this.#carryOutRead(admitted, body)
      return body.then((read) => this.#carryOutRead(admitted, read), notRead)
    } catch (error) {
      return notRead(error)
    }
  }

  #notRead(admitted: Admitted, message: Message, error: unknown): CountedAnswer {
    const { known, refusal } = admitted
    const unreadable = this.#error(message, TRANSPORT.unreadable, (error as Error).message)
    if (error instanceof CallerGone) return { ...unreadable, counted: undefined }
    if (refusal !== undefined) return this.#unread(admitted, refusal)
    const isFull = error instanceof Refusal && error.code === 'body-memory'
    return isFull ? this.#refusal(known, undefined, error) : unreadable
  }

  #carryOutRead(
    { known, call, refusal }: Admitted,
    body: JsonObject,
  ): CountedAnswer | Promise<CountedAnswer> {
    const requestId = requestIdIn(body)
    const run = (): CountedAnswer | Promise<CountedAnswer> =>
      afterwards(known.run(known.read(body, call), call), (own) => {
        // The operation refuses a stranger and records the item. Only a request without an item reaches this line.
        if (refusal !== undefined) throw refusal
        const sent =
          own instanceof AnsweredNo
            ? refused(known.answer, requestId, own)
            : answered(known.answer, requestId, own)
        return { sent, counted: known.type, errorCode: 0 }
      })
    return attempted(run, (error) => this.#refusal(known, requestId, refusal ?? error))
  }

  /** Refuses a caller who does not count, and whose request is not read. */
  #unread({ known, call }: Admitted, refusal: Refusal): CountedAnswer {
    this.#parts.strangers?.refusedUnread(call.caller, known.permission, refusal)
    return this.#refusal(known, undefined, refusal)
  }

  #refusal(known: AnyRequestType, requestId: string | undefined, error: unknown): CountedAnswer {
    if (!(error instanceof Refusal)) this.#parts.report(error, known.type)
    const sent =
      error instanceof Refusal
        ? sentError(error)
        : { errorCode: 500, message: 'internal error, see the log of the server' }
    return { sent: refused(known.answer, requestId, sent), counted: known.type, errorCode: sent.errorCode }
  }

  #done(request: ReceivedRequest, type: string, own: object): CountedAnswer {
    return { sent: answered(type, requestIdOf(request), own), counted: request.type, errorCode: 0 }
  }

  #error(request: ReceivedRequest, errorCode: number, text: string): CountedAnswer {
    const sent = refused('ErrorResponse', requestIdOf(request), { errorCode, message: text })
    const isCounted = this.#types.has(request.type) || BUILT_IN.has(request.type)
    return { sent, counted: isCounted ? request.type : UNKNOWN, errorCode }
  }
}

const NOT_SET_UP = 'The connection is not set up.'

const NOTHING: ReceivedRequest = { type: '', headers: new Map(), clientIp: '', body: undefined }

/** The result of `run`, or `refuse` of its error. */
function attempted<T>(run: () => T | Promise<T>, refuse: (error: unknown) => T): T | Promise<T> {
  try {
    const outcome = run()
    return outcome instanceof Promise ? outcome.catch(refuse) : outcome
  } catch (error) {
    return refuse(error)
  }
}

const BUILT_IN: ReadonlySet<string> = new Set(['ServerCheckRequest', 'HealthCheckRequest'])

/** The most of a body that is parsed before its caller is known to count. */
const MOST_UNKNOWN_BYTES = 4 * 1024

/** The id of a request that nobody has judged, and that may be unreadable; undefined for a large one. */
function requestIdOf({ body }: ReceivedRequest): string | undefined {
  if (body === undefined || body.length > MOST_UNKNOWN_BYTES) return undefined
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

/** From now on the memory of its requests counts for this caller. */
function nowKnown(session: ClientSession, identity: Identity): void {
  session.isKnown = true
  if (identity.kind === 'user') session.owner = turnOf({ ip: session.ip, identity })
}

function tokenIn(headers: Message['headers']): string | undefined {
  const bearer = /^bearer +(\S+) *$/i.exec(headers.get('authorization') ?? '')?.[1]
  return bearer ?? (headers.get('accesstoken') || undefined)
}

function shown(type: string): string {
  return JSON.stringify(type.slice(0, 100))
}
