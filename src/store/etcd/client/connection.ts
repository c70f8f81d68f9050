import { readFileSync } from 'node:fs'
import { type Clock, within } from './clock.ts'
import { EtcdError } from './etcd-error.ts'
import { callOn, type MessageStream, streamOn } from './grpc-call.ts'
import { GRPC, GrpcError } from './grpc-error.ts'
import type { Method } from './methods.ts'
import { Session } from './session.ts'

/** One endpoint, over which its methods are called. */
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
  /** Opens a stream of messages, which ends when the signal is aborted. Call `connect` before. */
  stream<Request, Response>(
    method: Method<Request, Response>,
    signal: AbortSignal,
  ): MessageStream<Request, Response>
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

/** Files for TLS: endpoints begin with `https:`. */
export interface TlsFiles {
  /** The authorities that are trusted, instead of those of Node. */
  readonly ca?: string
  /** The certificate of this client with its key, where etcd asks for one. */
  readonly cert?: string
  readonly key?: string
}

/** Makes connections over HTTP/2. */
export function connectTo(clock: Clock, tls: TlsFiles = {}): OpenConnection {
  return (endpoint, options) => new Http2Connection(endpoint, { ...options, clock, tls })
}

class Http2Connection implements EtcdConnection {
  readonly endpoint: string
  readonly #parts: ConnectionOptions & { clock: Clock; tls: TlsFiles }
  /** The one that takes new calls. */
  #session: Session | undefined
  /** Also those that end when their calls have. */
  readonly #sessions = new Set<Session>()

  constructor(endpoint: string, parts: ConnectionOptions & { clock: Clock; tls: TlsFiles }) {
    this.endpoint = endpoint
    this.#parts = parts
  }

  async connect(limitMs: number): Promise<void> {
    const session = (this.#session ??= this.#open())
    if (session.isOpen) return
    const isSettled = await within(this.#parts.clock, limitMs, session.settled)
    if (session.isOpen) return
    if (!isSettled) session.end(new GrpcError(GRPC.UNAVAILABLE, 'it does not answer in time'))
    const why = session.error === undefined ? '' : `: ${session.error.message}`
    throw new EtcdError('unavailable', `etcd at ${this.endpoint} cannot be reached${why}`, {
      cause: session.error,
    })
  }

  async call<Request, Response>(
    method: Method<Request, Response>,
    request: Request,
    timeoutMs: number,
  ): Promise<Response> {
    return callOn(this.#usable(), method, { request, timeoutMs })
  }

  stream<Request, Response>(method: Method<Request, Response>, signal: AbortSignal) {
    return streamOn(this.#usable(), method, signal)
  }

  close(): void {
    for (const session of this.#sessions)
      session.end(new GrpcError(GRPC.UNAVAILABLE, 'the connection was closed'))
  }

  #usable(): Session {
    if (this.#session?.isOpen === true) return this.#session
    throw new GrpcError(GRPC.UNAVAILABLE, 'the connection has ended', { notBegun: true })
  }

  #open(): Session {
    const { silentMs, silent, tls } = this.#parts
    const files = Object.entries(tls).map(([name, file]) => [name, readFileSync(file as string)])
    const session: Session = new Session(this.endpoint, {
      ...(Object.fromEntries(files) as Record<string, Buffer>),
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
