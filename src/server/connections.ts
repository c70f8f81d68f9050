import type { Logger } from 'pino'
import type { State } from '../core/state.ts'
import type { Observability } from '../observability.ts'
import type { Operations } from '../operations/operations.ts'
import { requireServing } from '../operations/serving.ts'
import { Asks } from '../protocols/grpc/connections/asks.ts'
import { ClientStreams } from '../protocols/grpc/connections/client-streams.ts'
import { ConnectionBook } from '../protocols/grpc/connections/connection-book.ts'
import { Dispatch } from '../protocols/grpc/requests/dispatch.ts'
import { clientHandlers } from '../protocols/grpc/transport/client-services.ts'
import { GrpcServer } from '../protocols/grpc/transport/grpc-server.ts'
import type { KeyPair } from '../protocols/sockets/secure-layer.ts'
import type { Settings } from '../settings/settings.ts'
import type { Certificates } from './certificates.ts'
import { clientRequests } from './client-requests.ts'
import { monotonicMs, wallMs } from './clocks.ts'
import { grpcPorts } from './grpc-port.ts'
import type { Installation } from './installation.ts'
import type { SignIn } from './sign-in.ts'

/** What connections work with. */
export interface ConnectionParts {
  readonly state: State
  readonly installation: Pick<Installation, 'cutOff'>
  readonly operations: Operations
  readonly signIn: Pick<SignIn, 'identifyClient'>
  readonly watch: Pick<Observability, 'report'>
  readonly certificates: Certificates | undefined
}

/** The clients that are connected by gRPC. */
export interface ClientConnections {
  /** Listens, unless gRPC is off; `httpPort` is the port of HTTP. Rejects with an Error that names the port. */
  listen(httpPort: number): Promise<void>
  /** See `GrpcServer.useKeyPair`. */
  useKeyPair(pair: KeyPair): void
  /** Call it about ten times a second. */
  tick(): void
  /** Ends all connections. */
  stop(): Promise<void>
}

/** Makes what answers connected clients; nothing listens yet. */
export function openConnections(parts: ConnectionParts, settings: Settings, log: Logger): ClientConnections {
  const { state, installation, operations, signIn, watch } = parts
  let isStopping = false
  const book = new ConnectionBook()
  const asks = new Asks(monotonicMs)
  const { types, abilities } = clientRequests({ operations }, settings)
  const dispatch = new Dispatch({
    types,
    book,
    monotonicMs,
    notServing: () => (isStopping ? 'The server is stopping.' : undefined),
    gate: requireServing(state, installation.cutOff),
    identify: signIn.identifyClient,
    report: (error, type) => watch.report(error, 'a request of a connected client failed', { type }),
  })
  const streams = new ClientStreams({ book, asks, monotonicMs, abilities, isOpen: () => !isStopping })
  const server = new GrpcServer({
    handlers: clientHandlers({ dispatch, streams }),
    settings,
    tls: parts.certificates?.pair,
    isSetUp: (sessionId) => book.of(sessionId) !== undefined,
    wallMs,
    monotonicMs,
    report: (error) => watch.report(error, 'a call of a connected client failed'),
    log,
  })
  return {
    listen: (httpPort) => listen(server, { settings, httpPort, log }),
    useKeyPair: (pair) => server.useKeyPair(pair),
    tick() {
      asks.tick(monotonicMs())
      book.tick(monotonicMs())
      server.tick(monotonicMs())
    },
    async stop() {
      isStopping = true
      for (const connection of book) connection.end('stopping')
      await server.stop()
    },
  }
}

interface Listening {
  readonly settings: Settings
  readonly httpPort: number
  readonly log: Logger
}

async function listen(server: GrpcServer, { settings, httpPort, log }: Listening): Promise<void> {
  const { host } = settings
  const [wanted, ...others] = grpcPorts(settings, httpPort)
  if (wanted === undefined) return
  try {
    await server.listen({ host, port: wanted })
  } catch (cause) {
    const [other] = others
    if (other === undefined)
      throw new Error(`cannot listen on grpc-port ${wanted}: ${(cause as Error).message}`, { cause })
    const port = await server.listen({ host, port: other })
    log.info({ wanted, port }, 'the port for gRPC is taken, so that a free one is used')
  }
}
