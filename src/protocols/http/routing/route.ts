import type { Refusal } from '../../../core/refusal.ts'
import type { ParameterRules } from '../../parameters/parameter-field.ts'
import type { IncomingMessage } from 'node:http'
import type { Permission, Caller } from '../../../operations/authorisation.ts'
import type { Static, ObjectSchema, Properties } from '../../parameters/schema.ts'

/** An answer, ready to be written. `headers`: in addition to the headers of every answer. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: Buffer | string
  /** The pieces after a body of bytes; other answers may be sent the same pieces. */
  readonly rest?: readonly Buffer[]
  /** The body is a text of ASCII characters alone: as many bytes. */
  readonly isAscii?: boolean
  readonly headers?: Readonly<Record<string, string>>
  /** Its status line and headers, where they are made once for many (ReadyAnswer). */
  readonly head?: string
  /** The body in chunks, where it is too much to hold: sent as fast as the client takes it. */
  readonly chunks?: AsyncIterable<Buffer>
  /** The buffers that the chunks keep in memory until they are sent; or the number of bytes. */
  readonly kept?: readonly Buffer[] | number
}

/** The JSON Schema of an answer, or of a part of one. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** The answers of an operation at 200, by content type. */
export type AnswerSchemas = Readonly<Record<string, JsonSchema>>

/** The caller of a request: what handlers may know of the connection. */
export interface HttpCaller extends Caller {
  /** The socket's address; behind trusted proxies the last other hop of X-Forwarded-For. Mapped IPv4 becomes IPv4. */
  readonly ip: string
  /** The socket's own address, whatever a header says (for UDP pushes). */
  readonly socketIp: string
  /** Whether the socket belongs to a trusted proxy: then nothing that listens there is the client. */
  readonly isProxied: boolean
  /** The port of the socket's other side; 0 where it has left. */
  readonly socketPort: number
  readonly userAgent: string
  /** The user of the client certificate that the connection has shown, and until when that counts (epoch ms). */
  readonly certificateUser?: { readonly username: string; readonly expiresMs: number } | undefined
  /** Whether the client speaks TLS with this server, or with a trusted proxy in front of it. */
  readonly isSecure: boolean
  readonly headers: IncomingMessage['headers']
}

/**
 * A request that is answered later (a held poll). The handler keeps it and calls `answer` once; `onGone` is
 * called when the client leaves before that. Answering twice or after the client has left does nothing.
 */
export interface Held {
  answer(answer: Answer): void
  /** Answers in the format of errors of its dialect. */
  refuse(refusal: Refusal): void
  onGone(callback: () => void): void
}

/** The input of a handler: its parameters, validated, and the caller. */
export interface Request<P> {
  readonly params: P
  readonly caller: HttpCaller
  /** The body of a route with `body: 'raw'`, if it came. */
  readonly rawBody?: Buffer | undefined
  /** The request target word for word, where that is all that was sent: undefined for a request with a body. */
  readonly target: string | undefined
  /** Takes the request out of the ordinary answer path; the handler must then return `undefined`. */
  hold(): Held
}

/** The result of a handler: an answer, now or later, or `undefined` after `hold()`. Throws Refusal for a 'no'. */
export type Handled = Answer | undefined | Promise<Answer | undefined>

/** The methods of the interface. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/**
 * One endpoint of a dialect, with everything about it: the one source of routing, validation and the OpenAPI document.
 */
export interface Route<T extends Properties = Properties> {
  readonly method: Method
  /** The whole path, e.g. `/svc/v1/cs/configs`. */
  readonly path: string
  readonly summary: string
  /** The permission of the operations which it calls; they judge the resources themselves. */
  readonly permission: Permission
  /** Query or form parameters; a handler sees them by these names. */
  readonly params: ObjectSchema<T>
  /** The meanings of the header fields that the operation reads, for the OpenAPI document. */
  readonly headers?: Readonly<Record<string, HeaderNote>>
  /** Its answers at 200, for the OpenAPI document. */
  readonly answers?: AnswerSchemas
  readonly rules: ParameterRules
  /** Bytes of body that this route takes, where it is not the default of the settings. */
  readonly maxBodyBytes?: number
  /** Whether the body is a form of parameters (the default), or is given to the handler as bytes. */
  readonly body?: 'form' | 'raw'
  /**
   * The parameter that may be sent as the body itself, a text of UTF-8, while the others are in the query. Fields of a form
   * must be known then (`KNOWN_PUBLISH_FIELDS`): an `&` in such a text that is not escaped makes a field.
   */
  readonly textParam?: 'content'
  /** The content types of a raw body, for the OpenAPI document. */
  readonly bodyTypes?: Readonly<Record<string, object>>
  /** A query parameter that, if `true` or one of its words, selects this route instead of the plain one of its path. */
  readonly variant?: string
  /**
   * Answers a request without a body whose target was read before, word for word; undefined where it was not.
   * It serves requests that clients repeat again and again. Throws Refusal as `handle` does.
   */
  readonly again?: (target: string, caller: HttpCaller) => Answer | undefined
  /** How errors are answered to this route's clients. */
  readonly errors: ErrorFormat
  readonly handle: (request: Request<Static<ObjectSchema<T>>>) => Handled
}

/** The meaning of a header field of a request. */
export interface HeaderNote {
  readonly description: string
  readonly required: boolean
}

/** Turns any error of a handler into the answer that the dialect's clients expect. */
export type ErrorFormat = (error: unknown, context: ErrorContext) => Answer

/** The facts that an error answer may mention. */
export interface ErrorContext {
  readonly method: string
  readonly path: string
  readonly requestId: string
}

/** Keeps the types of a route's parameters while the table holds routes of every kind. */
export function route<T extends Properties>(definition: Route<T>): Route {
  return definition as unknown as Route
}

/** A route without its place: a dialect gives it a method, a path and the rest. */
export type Endpoint<T extends Properties = Properties> = Pick<
  Route<T>,
  | 'summary'
  | 'permission'
  | 'params'
  | 'headers'
  | 'answers'
  | 'handle'
  | 'maxBodyBytes'
  | 'body'
  | 'bodyTypes'
  | 'textParam'
  | 'variant'
  | 'again'
>

/** The common fields of all routes of a part of a dialect. */
export interface RouteDefaults {
  readonly rules: ParameterRules
  readonly errors: ErrorFormat
}

/** Keeps the types of an endpoint's parameters while tables hold endpoints of every kind. */
export function endpoint<T extends Properties>(definition: Endpoint<T>): Endpoint {
  return definition as unknown as Endpoint
}

/** Gives endpoints their places: rows of method, path and endpoint. */
export function placeRoutes(
  defaults: RouteDefaults,
  prefix: string,
  rows: readonly (readonly [Method, string, Endpoint])[],
): Route[] {
  return rows.map(([method, path, of]) => route({ ...of, ...defaults, method, path: `${prefix}${path}` }))
}
