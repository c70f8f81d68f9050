import type { Cancellation } from './cancellation.ts'
import { type Clock, within } from './clock.ts'
import { EtcdError } from './etcd-error.ts'
import { callOn, type MessageStream, streamOn } from './grpc-call.ts'
import { GRPC, GrpcError } from './grpc-error.ts'
import { type EtcdUser, Identity, isOldToken } from './identity.ts'
import { type Method, METHODS } from './methods.ts'
import { Session } from './session.ts'
import { readTlsFiles, tlsFault, type TlsFiles } from './tls.ts'

/** A connection to one endpoint. */
export interface EtcdConnection {
  readonly endpoint: string
  /** Connects if needed. Rejects with `unavailable`, not in doubt, if that takes longer. */
  connect(limitMs: number): Promise<void>
  /** A call of one message and one answer. Rejects with `GrpcError`, after this time at the latest. Call `connect` before. */
  call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response>
  /** Opens a stream of messages, which ends when it is cancelled. Call `connect` before. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    cancellation: Cancellation,
  ): Promise<MessageStream<Request, Response>>
  /** Asks for a new token before the next call: etcd may not know the present one any longer. */
  forgetToken(): void
  /** Ends the connection with all its calls. A later `connect` makes a new one. */
  close(): void
}

/** How a connection is opened. */
export interface ConnectionOptions {
  /** How long a call may have no answer until `silent` is called. */
  readonly silentMs: number
  readonly silent: () => void
}

/** Opens the connection to an endpoint. */
export type OpenConnection = (endpoint: string, options: ConnectionOptions) => EtcdConnection

/** The credentials of this client, and the certificates that it trusts. */
export interface EtcdAccess {
  /** For endpoints that begin with `https:`. */
  readonly tls?: TlsFiles
  readonly user?: EtcdUser
}

/** How long a stream waits for a token. */
const TOKEN_MS = 2_000

/** Makes connections over HTTP/2. They share the token of the user. */
export function connectTo(clock: Clock, { tls = {}, user }: EtcdAccess = {}): OpenConnection {
  const identity = user && new Identity(user)
  return (endpoint, options) => new Http2Connection(endpoint, { ...options, clock, tls, identity })
}

type ConnectionParts = ConnectionOptions & {
  readonly clock: Clock
  readonly tls: TlsFiles
  readonly identity: Identity | undefined
}

class Http2Connection implements EtcdConnection {
  readonly endpoint: string
  readonly #parts: ConnectionParts
  /** The session for new calls. */
  #session: Session | undefined
  /** All open sessions, also sessions that end when their calls have ended. */
  readonly #sessions = new Set<Session>()

  constructor(endpoint: string, parts: ConnectionParts) {
    this.endpoint = endpoint
    this.#parts = parts
  }

  async connect(limitMs: number): Promise<void> {
    const session = (this.#session ??= this.#opened())
    if (session.isOpen) return
    const isSettled = await within(this.#parts.clock, limitMs, session.settled)
    if (session.isOpen) return
    if (!isSettled) session.end(new GrpcError(GRPC.UNAVAILABLE, 'it does not answer in time'))
    throw this.#failure(session.error)
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    const { identity } = this.#parts
    if (identity === undefined) return callOn(this.#usable(), method, { request, timeoutMs })
    const untilMs = performance.now() + timeoutMs
    const leftMs = (): number => Math.max(1, Math.ceil(untilMs - performance.now()))
    for (let isAgain = false; ; isAgain = true) {
      const token = await this.#token(identity, leftMs())
      try {
        return await callOn(this.#usable(), method, { request, timeoutMs: leftMs(), token })
      } catch (error) {
        if (isAgain || !isOldToken(error)) throw error
        identity.forget(token)
      }
    }
  }

  async stream<Request, Response>(method: Method<Request, Response>, cancellation: Cancellation) {
    const { identity } = this.#parts
    const token = identity && (await this.#token(identity, TOKEN_MS))
    return streamOn(this.#usable(), method, { cancellation, ...(token !== undefined && { token }) })
  }

  forgetToken(): void {
    this.#parts.identity?.forget()
  }

  close(): void {
    for (const session of this.#sessions)
      session.end(new GrpcError(GRPC.UNAVAILABLE, 'the connection was closed'))
  }

  #token(identity: Identity, timeoutMs: number): Promise<string> {
    return identity.token((request) => callOn(this.#usable(), METHODS.authenticate, { request, timeoutMs }))
  }

  #failure(cause: Error | undefined): EtcdError {
    const tls = tlsFault(cause)
    const reason = cause === undefined ? '' : `: ${cause.message}`
    if (tls === undefined)
      return new EtcdError('unavailable', `etcd at ${this.endpoint} cannot be reached${reason}`, { cause })
    return new EtcdError('untrusted', `etcd at ${this.endpoint} cannot be used: ${tls}${reason}`, { cause })
  }

  #usable(): Session {
    if (this.#session?.isOpen === true) return this.#session
    throw new GrpcError(GRPC.UNAVAILABLE, 'the connection has ended', { notBegun: true })
  }

  /** A new session. Files that cannot be used throw at once. */
  #opened(): Session {
    try {
      return this.#open()
    } catch (reason) {
      throw reason instanceof EtcdError ? reason : this.#failure(reason as Error)
    }
  }

  #open(): Session {
    const { silentMs, silent, tls } = this.#parts
    const session: Session = new Session(this.endpoint, {
      ...(this.endpoint.startsWith('https:') && readTlsFiles(tls)),
      silentMs,
      listener: {
        silent,
        left: () => {
          if (this.#session === session) this.#session = undefined
        },
        ended: () => this.#sessions.delete(session),
      },
    })
    this.#sessions.add(session)
    return session
  }
}
