import { createServer, type Server, type ServerOptions } from 'node:http'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import { CommonHeaders } from '../routing/answer-headers.ts'
import { parseTrustedProxies } from './client-address.ts'
import { answerClientError } from '../errors/client-error.ts'
import { BodyMemory } from './body-memory.ts'
import { Connections, type ConnectionSettings, unreadCheckMs } from './connection-limits.ts'
import { isIdle } from './connection-load.ts'
import { CrossSiteGuard, type HostNames } from './cross-site-guard.ts'
import type { ExchangeContext, HttpLog } from './exchange-context.ts'
import { Exchange } from './exchange.ts'
import { IncomingRequest } from './incoming-request.ts'
import { OutgoingResponse } from './outgoing-response.ts'
import type { RequestLimits } from './request-limits.ts'
import type { Answer, Caller, ErrorFormat, Route } from '../routing/route.ts'
import { beginInTurn } from './pipelining.ts'
import { Router } from '../routing/router.ts'
import { Turn } from './turn.ts'
import { UploadPlaces } from './upload-places.ts'

/** The limits and times of the HTTP server. */
export interface HttpSettings extends ConnectionSettings, RequestLimits, HostNames {
  /** How long an idle connection is kept. Above 75 s, the longest that clients and proxies keep theirs. */
  readonly keepAliveTimeoutMs: number
  /** The longest that a client may take to send a request; held polls are not touched by it. */
  readonly requestTimeoutMs: number
  /** Bytes of request line and headers together. */
  readonly maxHeaderBytes: number
  /** Bytes of a body, where the route says nothing else. */
  readonly maxBodyBytes: number
  /** Bytes of all bodies that are being read. */
  readonly maxBodyMemoryBytes: number
  readonly maxParameters: number
  readonly maxJsonDepth: number
  /** IPs and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
}

/** What an HTTP server is made of. */
export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly settings: HttpSettings
  readonly fallbackErrors: (path: string) => ErrorFormat
  readonly log: HttpLog
  /** Judges a request before its body is read: an answer, or a Refusal thrown, keeps it from its handler. */
  readonly gate?: (route: Route, rawUrl: string, caller: Caller) => Answer | undefined
  readonly onAnswer?: (route: Route | undefined, status: number, elapsedMs: number) => void
  /** Told the code of each refusal, `internal` for a fault of ours. */
  readonly onRefusal?: (code: string) => void
}

/** A server of a route table. */
export interface HttpServer {
  readonly server: Server
  /** Starts listening; `port` 0 takes any. Rejects where the address cannot be had. */
  listen(address: { host: string; port: number }): Promise<{ port: number }>
  /**
   * Takes no more connections, lets the requests in flight be answered, and ends all connections, by force
   * after `graceMs`. Held requests have to be answered by those who hold them.
   */
  stop(graceMs: number): Promise<void>
  /** Requests that are not answered yet. */
  inFlight(): number
  /** Connections since the start that were refused, and those cut because their client did not read. */
  connectionCounts(): { readonly refused: number; readonly cut: number }
}

/** How many header fields node looks at unless told otherwise. */
const NODE_HEADERS = 2_000

/** Builds the server; nothing listens yet. Throws for a wrong route table, trusted proxy or allowed host. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { settings } = options
  const context = contextOf(options)
  const begin = (request: IncomingRequest, response: OutgoingResponse): void =>
    beginInTurn(
      { request, response },
      settings.maxPipelinedRequests,
      new Exchange(context, request, response),
    )
  // Whose requests and answers these are matters to `begin` alone.
  const server = createServer(nodeOptions(settings), begin) as unknown as Server
  const connections = new Connections(settings, options.log)
  server.maxConnections = connections.hardLimit
  // Node drops what is beyond without a word, and Host may be among it: so it keeps more than may be.
  server.maxHeadersCount = Math.max(NODE_HEADERS, settings.maxHeaders + 1)
  // Exchanges ask for the body themselves, once they want it.
  server.on('checkContinue', begin)
  server.on('clientError', answerClientError)
  admitBefore(server, connections)
  const checkMs = unreadCheckMs(settings.unreadTimeoutMs)
  const slowReaders = setInterval(() => connections.cutSlowReaders(performance.now()), checkMs)
  slowReaders.unref()
  return {
    server,
    listen: async (wanted) => {
      const { address, port } = await listen(server, wanted)
      context.guard.listensOn(address)
      return { port }
    },
    stop: async (graceMs) => {
      await stop({ server, sockets: connections.sockets, context }, graceMs)
      clearInterval(slowReaders)
    },
    inFlight: () => context.inFlight,
    connectionCounts: () => connections.counts,
  }
}

/** Lets node see only the connections that are admitted: what the others send is not even read. */
function admitBefore(server: Server, connections: Connections): void {
  const listeners = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (!connections.admit(socket)) return
    for (const listener of listeners) listener.call(server, socket)
  })
}

function contextOf({
  routes,
  settings,
  fallbackErrors,
  log,
  gate,
  onAnswer,
  onRefusal,
}: HttpServerOptions): ExchangeContext {
  return {
    router: new Router(routes, settings.maxBodyBytes, settings.maxJsonDepth),
    trusted: parseTrustedProxies(settings.trustedProxies),
    maxParameters: settings.maxParameters,
    limits: settings,
    guard: new CrossSiteGuard(settings),
    bodyMemory: new BodyMemory(settings.maxBodyMemoryBytes),
    fallbackErrors,
    gate,
    onAnswer,
    onRefusal,
    log,
    commonHeaders: new CommonHeaders(settings.keepAliveTimeoutMs),
    turn: new Turn(),
    inFlight: 0,
    uploads: new UploadPlaces(),
    stopping: false,
  }
}

function nodeOptions(settings: HttpSettings): ServerOptions<typeof IncomingRequest, typeof OutgoingResponse> {
  const { requestTimeoutMs } = settings
  return {
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(requestTimeoutMs, 60_000),
    // Slow senders are looked for this often; node's own 30 s would let them have half a minute more.
    connectionsCheckingInterval: Math.max(100, Math.min(5_000, requestTimeoutMs / 2)),
    maxHeaderSize: settings.maxHeaderBytes,
    IncomingMessage: IncomingRequest,
    ServerResponse: OutgoingResponse,
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve(server.address() as AddressInfo)
    })
  })
}

interface Stopping {
  readonly server: Server
  readonly sockets: ReadonlySet<Socket>
  readonly context: ExchangeContext
}

const STOP_CHECK_MS = 20

function stop({ server, sockets, context }: Stopping, graceMs: number): Promise<void> {
  context.stopping = true
  return new Promise((resolve) => {
    const check = setInterval(endIdle, STOP_CHECK_MS, sockets)
    const force = setTimeout(endAll, graceMs, sockets)
    // The close of node:net: that of node:http also cuts connections whose last answer is still being sent.
    NetServer.prototype.close.call(server, () => {
      clearInterval(check)
      clearTimeout(force)
      // Now that nothing is open, node:http may let go of its own timer.
      server.close()
      resolve()
    })
    // Not in the middle of a turn: its answers are counted, and not written yet.
    setImmediate(endIdle, sockets)
  })
}

function endIdle(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) if (isIdle(socket)) socket.destroy()
}

function endAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
