import { performServerHandshake, type ServerHttp2Session, type ServerOptions } from 'node:http2'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { UniversalHandler } from '@connectrpc/connect/protocol'
import { DueBook } from '../../../core/due-book.ts'
import { carryCall } from './carry-call.ts'
import { Http2Session } from './http2-session.ts'

/** What a server of gRPC is made of. */
export interface GrpcServerParts {
  /** By their paths. */
  readonly services: ReadonlyMap<string, UniversalHandler>
  /** Whether the client of this session has set its connection up. */
  readonly isSetUp: (sessionId: string) => boolean
  readonly wallMs: () => number
  readonly monotonicMs: () => number
  /** Logs a fault of the server. */
  readonly report: (error: unknown) => void
  readonly maxConnections: number
}

/** How long a session may be open before its client has set its connection up. */
const SETUP_MS = 20_000
const BUCKET_MS = 1_000

/** Connections that the system may accept before the server does. */
const BACKLOG = 4_096

/** Clients have one stream and a few requests at once; more are refused, and their clients send them later. */
const HTTP2_OPTIONS: ServerOptions = {
  settings: { maxConcurrentStreams: 100, maxHeaderListSize: 16 * 1024, enablePush: false },
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
  // In MB: a request and an answer of the largest size may be under way.
  maxSessionMemory: 64,
}

/** A server of the services that clients of generation 2 and 3 call. A session of HTTP/2 is the identity of a client. */
export class GrpcServer {
  readonly #parts: GrpcServerParts
  readonly #listener: Server
  readonly #sessions = new Set<Http2Session>()
  readonly #unset = new DueBook<Http2Session>(BUCKET_MS)

  constructor(parts: GrpcServerParts) {
    this.#parts = parts
    this.#listener = createServer({ noDelay: true }, (socket) => this.#open(socket))
    this.#listener.maxConnections = parts.maxConnections
  }

  /** Sessions that are open. */
  get size(): number {
    return this.#sessions.size
  }

  /** Starts listening; `port` 0 takes any. Rejects where the address cannot be had. */
  listen({ host, port }: { host: string; port: number }): Promise<number> {
    const listener = this.#listener
    return new Promise((resolve, reject) => {
      listener.once('error', reject)
      listener.listen({ host, port, backlog: BACKLOG }, () => {
        listener.off('error', reject)
        resolve((listener.address() as AddressInfo).port)
      })
    })
  }

  /** Ends the sessions whose clients have set nothing up. Call it about once a second. */
  tick(nowMs: number): void {
    for (const session of this.#unset.due(nowMs)) if (!this.#parts.isSetUp(session.id)) session.destroy()
  }

  /** Stops listening, and ends all sessions. Resolves when they are closed. */
  stop(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    for (const session of this.#sessions) session.close()
    return closed
  }

  #open(socket: Socket): void {
    const { wallMs, monotonicMs } = this.#parts
    const http2 = performServerHandshake(socket, HTTP2_OPTIONS)
    const session = new Http2Session(http2, socket, wallMs())
    // What is wrong with a session ends it.
    http2.on('error', () => undefined)
    this.#sessions.add(session)
    this.#unset.add(session, monotonicMs() + SETUP_MS)
    http2.on('close', () => {
      this.#sessions.delete(session)
      this.#unset.remove(session)
    })
    this.#carryCalls(http2, session)
  }

  #carryCalls(http2: ServerHttp2Session, session: Http2Session): void {
    const { services, report } = this.#parts
    http2.on('stream', (stream, headers) => {
      // What is wrong with a stream ends it.
      stream.on('error', () => undefined)
      carryCall({ stream, headers, session }, services).catch((error: unknown) => {
        if (!stream.destroyed) report(error)
        stream.destroy()
      })
    })
  }
}
