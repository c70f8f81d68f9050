import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import { Server as NetServer, type AddressInfo, type Socket } from 'node:net'
import { parseTrustedProxies } from './client-address.ts'
import { answerClientError } from './client-error.ts'
import { isIdle } from './connection-load.ts'
import type { ExchangeContext, HttpLog } from './exchange-context.ts'
import { Exchange } from './exchange.ts'
import type { Answer, Caller, ErrorFormat, Route } from './route.ts'
import { Router } from './router.ts'

/** The limits and times of the HTTP server. */
export interface HttpSettings {
  /** How long an idle connection is kept. Above 75 s, the longest that clients and proxies keep theirs. */
  readonly keepAliveTimeoutMs: number
  /** The longest that a client may take to send a request; held polls are not touched by it. */
  readonly requestTimeoutMs: number
  /** Bytes of request line and headers together. */
  readonly maxHeaderBytes: number
  /** Bytes of a body, where the route says nothing else. */
  readonly maxBodyBytes: number
  readonly maxParameters: number
  readonly maxConnections: number
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
}

/** Builds the server; nothing listens yet. Throws for a wrong route table or trusted proxy. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { settings } = options
  const context = contextOf(options)
  const begin = (request: IncomingMessage, response: ServerResponse): void =>
    new Exchange(context, request, response).begin()
  const server = createServer(nodeOptions(settings), begin)
  server.maxConnections = settings.maxConnections
  // Exchanges ask for the body themselves, once they want it.
  server.on('checkContinue', begin)
  server.on('clientError', answerClientError)
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  return {
    server,
    listen: (address) => listen(server, address),
    stop: (graceMs) => stop({ server, sockets, context }, graceMs),
    inFlight: () => context.inFlight,
  }
}

function contextOf({
  routes,
  settings,
  fallbackErrors,
  log,
  gate,
  onAnswer,
}: HttpServerOptions): ExchangeContext {
  return {
    router: new Router(routes, settings.maxBodyBytes),
    trusted: parseTrustedProxies(settings.trustedProxies),
    maxParameters: settings.maxParameters,
    fallbackErrors,
    gate,
    onAnswer,
    log,
    inFlight: 0,
    stopping: false,
  }
}

function nodeOptions(settings: HttpSettings): ServerOptions {
  const { requestTimeoutMs } = settings
  return {
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    requestTimeout: requestTimeoutMs,
    headersTimeout: Math.min(requestTimeoutMs, 60_000),
    // Slow senders are looked for this often; node's own 30 s would let them have half a minute more.
    connectionsCheckingInterval: Math.max(100, Math.min(5_000, requestTimeoutMs / 2)),
    maxHeaderSize: settings.maxHeaderBytes,
  }
}

function listen(server: Server, { host, port }: { host: string; port: number }): Promise<{ port: number }> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: 4096 }, () => {
      server.off('error', reject)
      resolve({ port: (server.address() as AddressInfo).port })
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
    endIdle(sockets)
  })
}

function endIdle(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) if (isIdle(socket)) socket.destroy()
}

function endAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy()
}
