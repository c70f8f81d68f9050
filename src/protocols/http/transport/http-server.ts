import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  ServerResponse,
} from 'node:http'
import { createServer as createListener, type Server as Listener, type Socket } from 'node:net'
import { ANONYMOUS } from '../../../core/access/identity.ts'
import { contained } from '../../../core/unexpected.ts'
import { CommonHeaders } from '../routing/answer.ts'
import { parseTrustedProxies } from './client-address.ts'
import { answerClientError, endWith, PLAIN_HTTP } from '../errors/client-error.ts'
import { BodyShares } from '../../sockets/body-shares.ts'
import { Connections } from './connections.ts'
import { CrossSiteGuard, type HostNames } from './cross-site-guard.ts'
import type { ExchangeContext, HttpLog } from './exchange-context.ts'
import { Exchange } from './exchange.ts'
import type { Identification } from './identification.ts'
import { brokenFraming } from './framing.ts'
import { endOfUpgrade } from './node-internals/behind-upgrade.ts'
import { isTested, TESTED_MAJORS } from './node-internals/node-version.ts'
import { WholeResponse } from './node-internals/whole-response.ts'
import { MOST_PIPELINED, type RequestLimits } from './request-limits.ts'
import type { HttpCaller, ErrorFormat, Route, Answer } from '../routing/route.ts'
import { Router } from '../routing/router.ts'
import type { ConnectionSettings } from '../../sockets/admission.ts'
import { type KeyPair, SecureLayer, type SecureLayerOptions } from '../../sockets/secure-layer.ts'
import { OldestFirstMemory } from '../../sockets/held-memory.ts'
import { listenOn } from '../../sockets/listening.ts'
import { SlowClients, type SlownessSettings } from './slow-clients.ts'
import { stop, stopListening } from './stop.ts'
import { Turn } from './turn.ts'
import { UploadPlaces } from './upload-places.ts'

/** The limits and times of the HTTP server. */
export interface HttpSettings extends ConnectionSettings, SlownessSettings, RequestLimits, HostNames {
  /** How long an idle connection is kept. Above 75 s, the longest that clients and proxies keep theirs. */
  readonly keepAliveTimeoutMs: number
  /** Bytes of request line and headers together. */
  readonly maxHeaderBytes: number
  /** Bytes of a body, unless the route has a limit of its own. */
  readonly maxBodyBytes: number
  /** Bytes of all bodies that are being read. */
  readonly maxBodyMemoryBytes: number
  /** Bytes of all answers that clients have not read; `maxBodyMemoryBytes` by default. */
  readonly maxUnreadAnswerBytes?: number
  readonly maxParameters: number
  readonly maxJsonDepth: number
  /** IPs and CIDR ranges whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[]
  /** Answers through Node's streams, as on a version of Node.js that was not tested (`node-internals`). */
  readonly nodeStreams: boolean
}

/** Dependencies of an HTTP server. */
export interface HttpServerOptions {
  readonly routes: readonly Route[]
  readonly settings: HttpSettings
  readonly fallbackErrors: (path: string) => ErrorFormat
  readonly log: HttpLog
  /** Clients speak TLS, and nothing else, if there is a certificate. */
  readonly tls?: KeyPair
  /** Judges a request before its body is read: an answer, or a Refusal thrown, keeps it from its handler. */
  readonly gate?: (route: Route, rawUrl: string, caller: HttpCaller) => Answer | undefined
  /** Finds out who sends requests. Without it all callers are anonymous. */
  readonly identification?: Identification
  readonly onAnswer?: (route: Route | undefined, status: number, elapsedMs: number) => void
  /** Called with the code of each refusal; the code of a fault of the server is `internal`. */
  readonly onRefusal?: (code: string) => void
  /** Called for each client that sent no HTTP/1.1, too large headers, or too slowly. */
  readonly onMalformed?: () => void
  /** The version of Node.js, such as `24.21.0`. */
  readonly nodeVersion?: string
}

/** A server of a route table. */
export interface HttpServer {
  /** Node's server, which gets the connections that are admitted. It does not listen itself. */
  readonly server: Server
  /** Starts listening; `port` 0 takes any. Rejects where the address cannot be had. */
  listen(address: { host: string; port: number }): Promise<{ port: number }>
  /**
   * Uses another certificate for the connections from now on. Where the authorities of client certificates have changed, it
   * ends connections that have shown one, so that their clients show it again. Throws an Error where it cannot be used.
   */
  useKeyPair(pair: KeyPair): void
  /** Stops listening; requests on open connections are still carried out. `stop` follows. */
  stopListening(): Promise<void>
  /**
   * Lets the requests in flight be answered, refuses further ones (`stopping`), and ends all connections, by force
   * after `graceMs`. Held requests have to be answered by their holders.
   */
  stop(graceMs: number): Promise<void>
  /** Requests that are not answered yet. */
  inFlight(): number
  openConnections(): number
  /** How many connections since the start were refused, and how many were cut because their client did not read. */
  connectionCounts(): { readonly refused: number; readonly cut: number }
}

/** How many header fields Node reads by default. */
const NODE_HEADERS = 2_000

interface NodeOptions extends ServerOptions {
  /** Known to newer versions of Node only. */
  readonly optimizeEmptyRequests: boolean
}

/** Builds the server; nothing listens yet. Throws for a wrong route table, trusted proxy or allowed host. */
export function createHttpServer(options: HttpServerOptions): HttpServer {
  const { settings, log } = options
  const context = contextOf(options)
  const connections = new Connections(settings, log, options.tls !== undefined)
  const server = openServer({ context, connections }, options)
  const secure = openSecureLayer(options, (socket, admitted) => {
    connections.open(socket, admitted)
    server.emit('connection', socket)
  })
  const listener = openListener(server, connections, secure)
  const onTooSlow = (): void => options.onMalformed?.()
  const unwatch = new SlowClients({ connections, settings, log, onTooSlow }).watch()
  return {
    server,
    listen: async (wanted) => {
      const { address, port } = await listenOn(listener, wanted)
      context.guard.listensOn(address)
      return { port }
    },
    useKeyPair: (pair) => {
      if (secure?.use(pair) === true) connections.retireCertified()
    },
    stopListening: () => stopListening(listener, connections),
    stop: async (graceMs) => {
      await stop({ listener, connections, context }, graceMs)
      unwatch()
    },
    inFlight: () => context.inFlight,
    openConnections: () => connections.size,
    connectionCounts: () => connections.counts,
  }
}

interface HttpServerParts {
  readonly context: ExchangeContext
  readonly connections: Connections
}

/** Node's HTTP server. It is given each connection that was admitted, and does not listen itself. */
function openServer({ context, connections }: HttpServerParts, options: HttpServerOptions): Server {
  const { settings, onMalformed } = options
  const begin = (request: IncomingMessage, response: ServerResponse): void =>
    contained(
      'connection',
      () => request.socket.destroy(),
      () => arrive(request, response),
    )
  const arrive = (request: IncomingMessage, response: ServerResponse): void => {
    const connection = connections.of(request.socket)
    // Node still parses bytes of a connection that was cut.
    if (connection === undefined) return
    const exchange = new Exchange(context, { request, response }, connection)
    const isForwarded = request.headers['x-forwarded-for'] !== undefined && exchange.isProxied
    if (isForwarded) connections.usedFor(connection, exchange.ip)
    const endsAt = brokenFraming(request) === undefined ? endOfUpgrade(request) : 0
    connection.arrive(exchange, settings.maxPipelinedRequests ?? MOST_PIPELINED, endsAt)
  }
  const server = createServer(nodeOptions(options), begin)
  // Node drops fields beyond this silently, and Host may be among them: so it keeps more than are allowed.
  server.maxHeadersCount = Math.max(NODE_HEADERS, settings.maxHeaders + 1)
  // Exchanges ask for the body themselves, once they want it.
  server.on('checkContinue', begin)
  // Node would answer other expectations itself, without our headers. They may be ignored.
  server.on('checkExpectation', begin)
  const answerError = (error: NodeJS.ErrnoException, socket: Socket): void => {
    if (error.code !== 'ECONNRESET') onMalformed?.()
    answerClientError(error, socket, connections.of(socket)?.isAnswering === true)
  }
  server.on('clientError', (error, socket) =>
    contained(
      'connection',
      () => socket.destroy(),
      () => answerError(error, socket as Socket),
    ),
  )
  return server
}

/**
 * Listens, and passes the admitted connections to Node's HTTP server: others are not even read. Unlike `close` of an
 * HTTP server, its `close` only stops listening, and leaves the open connections alone.
 */
function openListener(server: Server, connections: Connections, secure: SecureLayer | undefined): Listener {
  const accept = (socket: Socket): void => {
    if (!connections.admit(socket)) return
    if (secure !== undefined) return secure.begin(socket)
    connections.open(socket)
    server.emit('connection', socket)
  }
  const listener = createListener({ allowHalfOpen: true, noDelay: true }, (socket) =>
    contained(
      'connection',
      () => socket.destroy(),
      () => accept(socket),
    ),
  )
  listener.maxConnections = connections.admission.hardLimit
  listener.on('drop', () => void connections.admission.refused++)
  return listener
}

/** The layer that decrypts connections, where the server has a certificate. */
function openSecureLayer(
  { tls, settings, onMalformed }: HttpServerOptions,
  onSecure: SecureLayerOptions['onSecure'],
): SecureLayer | undefined {
  if (tls === undefined) return undefined
  const { requestTimeoutMs } = settings
  return new SecureLayer(tls, {
    requestTimeoutMs,
    protocols: ['http/1.1'],
    onSecure,
    onFailed: () => onMalformed?.(),
    endPlainHttp: (socket) => endWith(socket, PLAIN_HTTP),
  })
}

function contextOf({
  routes,
  settings,
  fallbackErrors,
  log,
  gate,
  identification,
  onAnswer,
  onRefusal,
}: HttpServerOptions): ExchangeContext {
  return {
    router: new Router(routes, settings.maxBodyBytes, settings.maxJsonDepth),
    trusted: parseTrustedProxies(settings.trustedProxies),
    maxParameters: settings.maxParameters,
    limits: settings,
    guard: new CrossSiteGuard(settings, identification?.counts(ANONYMOUS) ?? true),
    bodyMemory: new BodyShares(settings.maxBodyMemoryBytes, { hasStrangers: identification !== undefined }),
    unread: new OldestFirstMemory(settings.maxUnreadAnswerBytes ?? settings.maxBodyMemoryBytes),
    fallbackErrors,
    gate,
    identification,
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

/** The options of Node's HTTP server. Logs a warning if its version is not tested. */
function nodeOptions({ settings, log, nodeVersion = process.versions.node }: HttpServerOptions): NodeOptions {
  if (!isTested(nodeVersion))
    log.warn(
      { node: nodeVersion, tested: TESTED_MAJORS },
      'this version of Node.js is not tested: answers are slower',
    )
  const isFast = isTested(nodeVersion) && !settings.nodeStreams
  return {
    keepAliveTimeout: settings.keepAliveTimeoutMs,
    maxHeaderSize: settings.maxHeaderBytes,
    // Newer versions of Node only: a request without a body costs no stream.
    optimizeEmptyRequests: true,
    ServerResponse: isFast ? WholeResponse : ServerResponse,
  }
}
