import type { Logger } from 'pino'
import type { Operations } from '../operations/operations.ts'
import { errorsOfPath } from '../protocols/http/dialect-errors.ts'
import { createHttpServer, type HttpServer } from '../protocols/http/transport/http-server.ts'
import { serverGate } from '../protocols/http/endpoints/server-gate.ts'
import type { KeyPair } from '../protocols/sockets/secure-layer.ts'
import type { PageParts } from '../protocols/http/page/page-routes.ts'
import { servedRoutes } from './doors/routes.ts'
import type { Certificates } from './process/certificates.ts'
import { openClients } from './doors/connected-clients.ts'
import { openConnections } from './doors/connections.ts'
import { openConsole } from './doors/console.ts'
import { joinParts, type JoinedParts } from './joined-parts.ts'
import { openBackups } from './process/backups.ts'
import { monotonicMs } from './process/clocks.ts'
import type { Installation } from './process/installation.ts'
import { openMonitoring } from './process/monitoring.ts'
import { type ServerEnd, UnexpectedEnd } from './process/unexpected-end.ts'
import { startRegularJobs } from './regular-jobs.ts'
import { openOperations, type OperatedParts } from './server-operations.ts'
import { openSignIn } from './sign-in/sign-in.ts'
import { advertisedHost, urlOf } from './process/server-address.ts'
import type { Settings } from '../settings/settings.ts'
import { unreadMemoryOf } from './process/memory-limits.ts'

/** A running server. */
export interface RunningServer {
  /** The address without a path: `http://127.0.0.1:8848`. */
  readonly url: string
  /** The port for clients that use gRPC; undefined if it is off. */
  readonly grpcPort: number | undefined
  /** The one-time code for the first administrator, if there is no administrator and authentication is on. */
  readonly firstCode: string | undefined
  /** Resolves when this server ends by itself: then call `stop`, and end the process with the exit code. */
  readonly ended: Promise<ServerEnd>
  /** Ends this server, because something was thrown past all its boundaries. Never throws. */
  fail(error: unknown, text: string): void
  /** Finishes the received requests and closes the store. Resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** The parts that are opened before the rest is loaded. */
export interface Opened {
  readonly installation: Installation
  /** Undefined if the server speaks no TLS. */
  readonly certificates: Certificates | undefined
}

/** Builds a server on an installation. Resolves when it listens. Its `stop` closes the store. */
export async function serveFrom(opened: Opened, settings: Settings, log: Logger): Promise<RunningServer> {
  const { installation } = opened
  const end = new UnexpectedEnd(log, installation.ended)
  const parts = await joinParts(installation, end, { settings, log })
  const doors = await openDoors({ ...parts, certificates: opened.certificates }, settings, log)
  const { http, connections, monitoring, signIn, members, watch } = doors
  watch.observe({ ...doors, ...parts.pushing, prober: parts.probing.prober })
  const useKeyPair = (pair: KeyPair): void => {
    http.useKeyPair(pair)
    connections.useKeyPair(pair)
  }
  const jobs = startRegularJobs({ ...doors, useKeyPair, log }, settings)
  const { port, grpcPort } = await listen(doors, settings).catch(async (error: unknown) => {
    jobs.stop()
    await Promise.all([http.stop(0), connections.stop(), monitoring.stop(), closeSockets(parts)])
    throw error
  })
  members.listensOn(port)
  const url = urlOf(settings, port)
  watch.started(url)
  const stop = (): Promise<void> => stopServer({ ...doors, end, jobs }, settings)
  return { url, grpcPort, firstCode: signIn.parts.firstCode.text, ended: end.ended, fail: end.fail, stop }
}

interface SecuredParts extends JoinedParts, Pick<Opened, 'certificates'> {}

type Doors = Awaited<ReturnType<typeof openDoors>>

/** Opens everything that answers clients; nothing listens yet. */
async function openDoors(parts: SecuredParts, settings: Settings, log: Logger) {
  const signIn = await openSignIn({ ...parts, trail: parts.audit.trail }, settings, log).catch(
    async (error: unknown) => {
      await closeSockets(parts)
      throw error
    },
  )
  const backups = openBackups(parts.installation.file, settings, log)
  const console = await openConsole(signIn.mode, settings)
  const operated = { ...parts, clients: openClients(parts, settings), backups, signIn }
  const operations = openOperations(operated, settings)
  const http = openHttp({ ...operated, operations, console }, settings)
  const connections = openConnections({ ...operated, operations }, settings, log)
  const monitoring = openMonitoring(parts.watch, settings, log)
  return { ...operated, http, connections, monitoring }
}

async function listen({ monitoring, installation, signIn, http, connections }: Doors, settings: Settings) {
  await monitoring.listen()
  await installation.enter(signIn.mode)
  const { port } = await http.listen(settings)
  return { port, grpcPort: await connections.listen(port) }
}

interface StoppedParts extends Doors {
  readonly end: UnexpectedEnd
  readonly jobs: { stop(): void }
}

/** How long clients may take for their last answers when a fault ends the server. */
const FAULT_GRACE_MS = 1_000

/** After a fault nobody knows what still works: it tries each step. Memory that may be wrong is not written. */
async function endAfterFault(parts: StoppedParts): Promise<void> {
  const { end, watch, jobs, http, connections, engine, installation } = parts
  const steps: (() => unknown)[] = [
    () => watch.stopping(),
    () => jobs.stop(),
    () => http.stopListening(),
    () => Promise.all([http.stop(end.isStateBroken ? 0 : FAULT_GRACE_MS), connections.stop()]),
    () => (end.isStateBroken ? undefined : engine.close()),
    () => closeAudit(parts),
    () => installation.leave(),
  ]
  for (const step of steps)
    await Promise.resolve()
      .then(step)
      .catch((error: unknown) => end.fail(error, 'it does not end in order'))
}

async function stopServer(parts: StoppedParts, settings: Settings): Promise<void> {
  if (parts.end.hasFailed) return endAfterFault(parts)
  const { watch, jobs, http, connections, backups, monitoring, installation } = parts
  watch.stopping()
  jobs.stop()
  await http.stopListening()
  // From now on answers close their connections, also answers of held polls.
  const closed = http.stop(settings.shutdownGraceMs)
  parts.polls.answerAll()
  parts.live.streams.endAll()
  const handedOver = connections.stop().then(() => installation.handOver())
  await Promise.all([closed, handedOver, backups.stop(), monitoring.stop()])
  await Promise.all([closeSockets(parts), parts.engine.close(), closeAudit(parts)])
  await installation.leave()
  watch.stopped()
}

interface HttpParts extends OperatedParts, SecuredParts {
  readonly operations: Operations
  readonly console: PageParts
}

function openHttp(parts: HttpParts, settings: Settings): HttpServer {
  const { state, installation, watch, operations, signIn, certificates } = parts
  const { notReady, warnings, faults } = watch
  return createHttpServer({
    routes: servedRoutes({
      operations,
      monotonicMs,
      settings,
      notReady,
      warnings,
      faults,
      console: parts.console,
    }),
    settings: {
      ...settings,
      advertiseHost: advertisedHost(settings),
      maxHeaderBytes: settings.maxRequestLineBytes,
      maxUnreadAnswerBytes: unreadMemoryOf(settings),
    },
    fallbackErrors: errorsOfPath,
    gate: serverGate(state, installation.cutOff),
    ...(certificates === undefined ? {} : { tls: certificates.pair }),
    ...(signIn.identification === undefined ? {} : { identification: signIn.identification }),
    onAnswer: watch.requests.onAnswer,
    onRefusal: watch.requests.onRefusal,
    onMalformed: watch.requests.onMalformed,
    log: watch.requestLog,
  })
}

/** Events that cannot be written are lost: the server stops all the same. */
async function closeAudit({ audit, watch }: JoinedParts): Promise<void> {
  await audit.close().catch((error: unknown) => watch.report(error, 'the last events of the audit are lost'))
}

async function closeSockets({ pushing, probing }: JoinedParts): Promise<void> {
  await Promise.all([pushing.socket.close(), probing.prober.close()])
}
