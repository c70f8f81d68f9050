import type { Logger } from 'pino'
import type { State } from '../../core/engine/state.ts'
import type { ConnectionFigures } from '../../metrics/connection-metrics.ts'
import type { Observability } from '../process/observability.ts'
import type { Operations } from '../../operations/operations.ts'
import { EndedRights } from '../../operations/access/ended-rights.ts'
import { requireServing } from '../../operations/server/serving.ts'
import { configRequests } from '../../protocols/grpc/config/config-requests.ts'
import type { ClientFacts } from '../../protocols/grpc/connections/client-connection.ts'
import { Asks } from '../../protocols/grpc/connections/asks.ts'
import { ClientStreams } from '../../protocols/grpc/connections/client-streams.ts'
import type { ConnectionBook } from '../../protocols/grpc/connections/connection-book.ts'
import { ShownCredentials } from '../../protocols/grpc/connections/shown-credentials.ts'
import { namingRequests } from '../../protocols/grpc/naming/naming-requests.ts'
import { BodyTurns } from '../../protocols/grpc/requests/body-turns.ts'
import { Dispatch, type DispatchParts } from '../../protocols/grpc/requests/dispatch.ts'
import type { AnyRequestType } from '../../protocols/grpc/requests/request-type.ts'
import { GrpcServer } from '../../protocols/grpc/transport/grpc-server.ts'
import type { KeyPair } from '../../protocols/sockets/secure-layer.ts'
import type { Settings } from '../../settings/settings.ts'
import { unreadMemoryOf } from '../process/memory-limits.ts'
import type { Certificates } from '../process/certificates.ts'
import type { Publishing } from '../process/caring.ts'
import { later, loop, monotonicMs, wallMs } from '../process/clocks.ts'
import type { ClientsOfServer } from './connected-clients.ts'
import { grpcPorts } from './grpc-port.ts'
import type { Installation } from '../process/installation.ts'
import type { Pushing } from './pushing.ts'
import type { SignIn } from '../sign-in/sign-in.ts'

/** The dependencies of connections. */
export interface GrpcClientParts {
  readonly state: State
  readonly installation: Pick<Installation, 'cutOff'>
  readonly operations: Operations
  readonly signIn: Pick<SignIn, 'mode' | 'judge' | 'identifyClient' | 'strangers'>
  readonly clients: Pick<ClientsOfServer, 'book' | 'moves'>
  readonly publishing: Pick<Publishing, 'connectionInstances'>
  readonly pushing: Pick<Pushing, 'streams'>
  readonly watch: Pick<Observability, 'caught' | 'clientRequests'>
  readonly certificates: Certificates | undefined
}

/** The clients that are connected by gRPC. */
export type ClientConnections = ReturnType<typeof openConnections>

/** The abilities of this server, as clients name them. */
const ABILITIES = ['supportPersistentInstanceByGrpc', 'fuzzyWatch']

/** Makes the parts that answer connected clients; nothing listens yet. */
export function openConnections(parts: GrpcClientParts, settings: Settings, log: Logger) {
  const { installation, operations } = parts
  const { cutOff } = installation
  let isStopping = false
  const { book, moves } = parts.clients
  const asks = new Asks(monotonicMs)
  const requestParts = { operations, limits: settings, after: later }
  const types = [...configRequests(requestParts), ...namingRequests(requestParts)]
  const notServing = (): string | undefined => (isStopping ? 'The server is stopping.' : undefined)
  const credentials = new ShownCredentials()
  const endedRights = endedRightsOf(parts)
  const dispatch = dispatchOf(types, { ...parts, book, credentials, notServing })
  const isOpen = (client: ClientFacts): boolean =>
    !isStopping && (cutOff?.() === undefined || isForConfigs(client))
  const streams = new ClientStreams({ book, asks, monotonicMs, abilities: ABILITIES, isOpen })
  const server = new GrpcServer({
    services: {
      answer: (message, session) => dispatch.answer(message, session),
      judge: (head, session) => dispatch.judge(head, session),
      open: (outlet, session) => streams.open(outlet, session),
    },
    settings: { ...settings, maxUnreadAnswerBytes: unreadMemoryOf(settings) },
    tls: parts.certificates?.pair,
    isSetUp: (sessionId) => book.of(sessionId) !== undefined,
    wallMs,
    monotonicMs,
    log,
  })
  return {
    figures: figuresOf(book, asks, server),
    /** Listens, unless gRPC is off. Resolves with its port, or undefined. Rejects with an Error that names the port. */
    listen: (httpPort: number) => listen(server, { settings, httpPort, log }),
    useKeyPair: (pair: KeyPair) => server.useKeyPair(pair),
    /** Call it about ten times a second. */
    tick(): void {
      asks.tick(monotonicMs())
      book.tick(monotonicMs())
      credentials.tick(monotonicMs())
      endedRights?.tick()
      server.tick(monotonicMs())
      if (cutOff?.() !== undefined) leaveNaming(book)
    },
    /** Sends all clients to other servers, and ends their connections. */
    async stop(): Promise<void> {
      isStopping = true
      await moves.all()
      await server.stop()
    },
  }
}

interface DispatchNeeds extends GrpcClientParts {
  readonly book: ConnectionBook
  readonly credentials: ShownCredentials
  readonly notServing: () => string | undefined
}

function dispatchOf(types: readonly AnyRequestType[], parts: DispatchNeeds): Dispatch {
  const { state, installation, signIn, watch, book, notServing } = parts
  return new Dispatch({
    types,
    book,
    bodies: new BodyTurns(loop),
    monotonicMs,
    notServing,
    gate: requireServing(state, installation.cutOff),
    identify: signIn.identifyClient,
    strangers: signIn.strangers,
    onShown: notingCredentials(parts),
    report: (error, type) => watch.caught('request', error, { type }),
    onAnswer: watch.clientRequests.onAnswer,
  })
}

/** Records the credentials of clients; undefined while nobody signs in. */
function notingCredentials({
  credentials,
  signIn: { judge, mode },
}: DispatchNeeds): DispatchParts['onShown'] {
  if (judge === undefined) return undefined
  return (connection, identity) => {
    const counts = judge.problemOf(identity) === undefined
    if (counts && identity.kind === 'user') credentials.counted(connection, identity, monotonicMs())
    else if (!counts && mode === 'on') credentials.refused(connection, identity, monotonicMs())
  }
}

/** Judges connected clients again; undefined while nobody is refused. */
function endedRightsOf(parts: GrpcClientParts): EndedRights | undefined {
  const { state, signIn, clients, publishing, pushing } = parts
  if (signIn.judge === undefined || signIn.mode !== 'on') return undefined
  return new EndedRights({
    state,
    judge: signIn.judge,
    connections: clients.book,
    connectionInstances: publishing.connectionInstances,
    lookAtSubscriptions: () => pushing.streams.lookAgain(),
    loop,
  })
}

/** A server that is cut off still answers reads of configurations; other clients must use another server. */
function leaveNaming(book: ConnectionBook): void {
  for (const connection of book) if (!isForConfigs(connection.client)) connection.end('moved')
}

function isForConfigs({ module }: ClientFacts): boolean {
  return module === 'config'
}

function figuresOf(book: ConnectionBook, { counts }: Asks, server: GrpcServer): ConnectionFigures {
  return {
    connections: () => book.size,
    sockets: () => server.admission.size,
    refused: () => ({ limit: server.admission.refused, idle: server.idle }),
    ended: () => book.ended,
    http2Limits: () => server.limits.byReason,
    questions: () => ({ acknowledged: counts.acknowledged, unanswered: counts.unanswered }),
  }
}

interface Listening {
  readonly settings: Settings
  readonly httpPort: number
  readonly log: Logger
}

async function listen(
  server: GrpcServer,
  { settings, httpPort, log }: Listening,
): Promise<number | undefined> {
  const { host } = settings
  const [wanted, ...others] = grpcPorts(settings, httpPort)
  if (wanted === undefined) return undefined
  try {
    return await server.listen({ host, port: wanted })
  } catch (cause) {
    const [other] = others
    if (other === undefined)
      throw new Error(`cannot listen on grpc-port ${wanted}: ${(cause as Error).message}`, { cause })
    const port = await server.listen({ host, port: other })
    log.info({ wanted, port }, 'the port for gRPC is taken, so that a free one is used')
    return port
  }
}
