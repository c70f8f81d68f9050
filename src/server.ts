import type { Logger } from 'pino'
import { clientsBehind } from './core/clients/clients-behind.ts'
import { Follower } from './core/engine/follower.ts'
import { HealthClock } from './core/naming/liveness/health-clock.ts'
import { Liveness } from './core/naming/liveness/liveness.ts'
import { Timeline, type TimelineParts } from './core/naming/timeline/timeline.ts'
import type { ConfigKey } from './core/config/state/config-item.ts'
import { seenBy, viewedMd5 } from './core/config/state/config-view.ts'
import { knownToRules } from './core/clients/client-views.ts'
import type { ServiceKey } from './core/naming/state/service.ts'
import { Stamps, type Now } from './core/decisions/stamps.ts'
import { reportFaultsTo } from './core/unexpected.ts'
import { Feed } from './feed/feed.ts'
import { SWEEP_MS } from './jobs/naming-care.ts'
import { MachineLoad } from './machine/machine-load.ts'
import { Observability, type ObservabilityOptions } from './observability.ts'
import type { Operations } from './operations/operations.ts'
import { InstanceListAnswers } from './protocols/answers/instance-list.ts'
import { errorsOfPath } from './protocols/http/dialect-errors.ts'
import { createHttpServer, type HttpServer } from './protocols/http/transport/http-server.ts'
import { serverGate } from './protocols/http/endpoints/server-gate.ts'
import type { KeyPair } from './protocols/sockets/secure-layer.ts'
import type { PageParts } from './protocols/http/page/page-routes.ts'
import { servedRoutes } from './routes.ts'
import { openAudit } from './server/audit.ts'
import { openBackups, type BackupsOfServer } from './server/backups.ts'
import { loop, monotonicMs, wallMs } from './server/clocks.ts'
import { type ClientsOfServer, openClients } from './server/connected-clients.ts'
import { type ClientConnections, openConnections } from './server/connections.ts'
import { openConsole } from './server/console.ts'
import { openLive } from './server/live.ts'
import type { Installation } from './server/installation.ts'
import { type Monitoring, openMonitoring } from './server/monitoring.ts'
import { openSignIn, type SignIn } from './server/sign-in.ts'
import { serverOperations } from './server/server-operations.ts'
import { type Probing, startProbing } from './server/probing.ts'
import { ClientCounter } from './server/client-counts.ts'
import { type Ended, UnexpectedEnd } from './server/unexpected-end.ts'
import { responsibleFor } from './server/responsible.ts'
import { openCare } from './server/caring.ts'
import { openPushing, subscribersOf } from './server/pushing.ts'
import { type JobParts, startRegularJobs } from './server/regular-jobs.ts'
import { advertisedHost, urlOf } from './server-address.ts'
import type { Settings } from './settings/settings.ts'
import type { Certificates } from './server/certificates.ts'
import { configPatterns } from './subscribers/config-patterns.ts'
import { ConfigWatchers } from './subscribers/config-watchers.ts'
import { servicePatterns } from './subscribers/service-patterns.ts'
import type { PatternWatch } from './subscribers/pattern-watch.ts'

/** A running server. */
export interface RunningServer {
  /** The address without a path: `http://127.0.0.1:8848`. */
  readonly url: string
  /** The port for clients that use gRPC; undefined where it is off. */
  readonly grpcPort: number | undefined
  /** The one-time code for the first administrator, where there is none yet and authentication is on. */
  readonly firstCode: string | undefined
  /** Resolves with what ends this server while nobody stops it: call `stop` then, and end the process with the exit code. */
  readonly ended: Promise<Ended>
  /** Ends this server, because something was thrown past all its boundaries. Never throws. */
  fail(error: unknown, text: string): void
  /** Finishes the received requests and closes the store. Resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** What is opened before the rest is loaded. */
export interface Opened {
  readonly installation: Installation
  /** Undefined where the server speaks no TLS. */
  readonly certificates: Certificates | undefined
}

/** Builds a server on an installation. Resolves when it listens. Its `stop` closes the store. */
export async function serveFrom(opened: Opened, settings: Settings, log: Logger): Promise<RunningServer> {
  const { installation, certificates } = opened
  const end = new UnexpectedEnd(log, installation.ended)
  const parts = await joinParts({ installation, end }, settings, log)
  const { members, watch } = parts
  const signIn = await openSignIn({ ...parts, trail: parts.audit.trail }, settings, log).catch(
    async (error: unknown) => {
      await closeSockets(parts)
      throw error
    },
  )
  const backups = openBackups(installation.file, settings, log)
  const console = await openConsole(signIn.mode, settings)
  const clients = openClients(parts, settings)
  const operations = openOperations({ ...parts, clients, backups, signIn }, settings)
  const http = openHttp({ ...parts, certificates, operations, signIn, console }, settings)
  const connections = openConnections({ ...parts, clients, certificates, operations, signIn }, settings, log)
  watch.observe({
    ...parts,
    ...parts.pushing,
    prober: parts.probing.prober,
    http,
    connections,
    certificates,
  })
  const useKeyPair = (pair: KeyPair): void => {
    http.useKeyPair(pair)
    connections.useKeyPair(pair)
  }
  const jobs = startRegularJobs({ ...parts, signIn, connections, certificates, useKeyPair }, settings)
  const monitoring = openMonitoring(watch, settings, log)
  const listen = async (): Promise<{ port: number; grpcPort: number | undefined }> => {
    await monitoring.listen()
    await installation.enter(signIn.mode)
    const { port } = await http.listen(settings)
    return { port, grpcPort: await connections.listen(port) }
  }
  const { port, grpcPort } = await listen().catch(async (error: unknown) => {
    jobs.stop()
    await Promise.all([http.stop(0), connections.stop(), monitoring.stop(), closeSockets(parts)])
    throw error
  })
  members.listensOn(port)
  const url = urlOf(settings, port)
  watch.started(url)
  const stop = (): Promise<void> =>
    stopServer({ ...parts, end, jobs, http, connections, backups, monitoring }, settings)
  return { url, grpcPort, firstCode: signIn.parts.firstCode.text, ended: end.ended, fail: end.fail, stop }
}

interface StoppedParts extends Parts {
  readonly end: UnexpectedEnd
  readonly jobs: { stop(): void }
  readonly http: HttpServer
  readonly connections: ClientConnections
  readonly backups: BackupsOfServer
  readonly monitoring: Monitoring
}

/** How long clients may take for their last answers when a fault ends the server. */
const FAULT_GRACE_MS = 1_000

/**
 * After a fault nobody knows what still works: each step is tried, whatever the outcome of those before it.
 * Memory that may be wrong is not written.
 */
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
  // From now on answers close their connections, also those of held polls.
  const closed = http.stop(settings.shutdownGraceMs)
  parts.polls.answerAll()
  parts.live.streams.endAll()
  const handedOver = connections.stop().then(() => installation.handOver())
  await Promise.all([closed, handedOver, backups.stop(), monitoring.stop()])
  await Promise.all([closeSockets(parts), parts.engine.close(), closeAudit(parts)])
  await installation.leave()
  watch.stopped()
}

interface Parts extends Omit<JobParts, 'certificates' | 'useKeyPair' | 'connections'> {
  readonly lists: InstanceListAnswers
  readonly liveness: Liveness
  readonly timeline: Timeline
  readonly healthClock: HealthClock
  readonly clock: () => Now
  readonly configPatterns: PatternWatch<ConfigKey>
  readonly servicePatterns: PatternWatch<ServiceKey>
}

interface OperatedParts {
  readonly clients: ClientsOfServer
  readonly backups: BackupsOfServer
  readonly signIn: SignIn
}

interface HttpParts extends Pick<Opened, 'certificates'> {
  readonly operations: Operations
  readonly signIn: SignIn
  readonly console: PageParts
}

interface Joined extends Pick<Opened, 'installation'> {
  readonly end: UnexpectedEnd
}

/** What is watched of an installation. */
function measured(
  installation: Installation,
): Pick<ObservabilityOptions, 'store' | 'cutOff' | 'lagging' | 'measureRoom' | 'storeBytes'> {
  const { store, cutOff, lagging } = installation
  return {
    store,
    cutOff,
    lagging,
    measureRoom: (isUrgent) => installation.measureRoom(isUrgent),
    storeBytes: () => installation.storeBytes(),
  }
}

/** Creates and connects the parts. Changes flow one way: engine, state, feed, subscribers. */
async function joinParts({ installation, end }: Joined, settings: Settings, log: Logger): Promise<Parts> {
  const { store, snapshot, lastRefAheadMs } = installation
  const healthClock = new HealthClock(monotonicMs(), SWEEP_MS)
  const stamps = new Stamps()
  const clock = (): Now => clockAt(wallMs(), healthClock, stamps)
  const watch = new Observability({ ...measured(installation), log, settings, monotonicMs })
  reportFaultsTo({ caught: watch.caught, fatal: end.failState })
  const feed = new Feed({ defer: loop.soon })
  const liveness = new Liveness(installation.process)
  const timeline = openTimeline(() => probing)
  const following = { clock, stamps, feed, presence: liveness, lastRefAheadMs, observer: timeline }
  const follower = Follower.load(snapshot, following, settings)
  const { state, revision } = follower
  const live = openLive({ installation, revision, watch }, settings)
  const onReload = () => live.streams.reloaded()
  const engine = watch.withinRoom(installation.engineOn({ follower, stamps, clock, watch, onReload }))
  const polls = openPolls({ state, live }, settings)
  const patterns = { configPatterns: configPatterns(loop), servicePatterns: servicePatterns(loop) }
  const lists = new InstanceListAnswers(state, loop)
  const pushing = await openPushing({ state, lists }, settings, log)
  const { publishing, care } = openCare({ installation, state, liveness, engine, healthClock, clock, watch })
  const probing = startProbing({ state, engine, clock, judges: care.judges }, settings, log)
  for (const part of [polls, ...Object.values(patterns), pushing.serviceWatch, probing.watch])
    feed.subscribe((change) => part.onChange(change))
  feed.subscribe(watch.changes.onChange)
  feed.subscribe(live.streams.onChange)
  return {
    installation,
    state,
    liveness,
    timeline,
    lists,
    engine,
    store,
    healthClock,
    clock,
    polls,
    ...patterns,
    live,
    pushing,
    publishing,
    probing,
    care,
    members: await installation.membersOf({ state, engine, watch }),
    machine: new MachineLoad(),
    watch,
    audit: openAudit({ store, clock, report: watch.report, onWritten: live.onAudit }, settings, log),
  }
}

function openPolls({ state, live }: Pick<Parts, 'state' | 'live'>, settings: Settings): ConfigWatchers {
  return new ConfigWatchers({
    md5Of: (key, who) => viewedMd5(state, key, who),
    seenBy: (key, who) => ({ ...seenBy(state, key, who), ...knownToRules(who) }),
    loop,
    maxHeld: settings.maxHeldPolls,
    maxHeldOfAddress: settings.maxHeldPollsPerAddress,
    onWatched: live.streams.onWatched,
  })
}

/** Remembers what happens to instances; `probing` is there before anything is probed. */
function openTimeline(probing: () => Probing): Timeline {
  const probeText: TimelineParts['probeText'] = (key, address) => probing().lastOf(key, address)?.text ?? ''
  return new Timeline({ startMs: wallMs(), probeText })
}

function clockAt(wallMs: number, healthClock: HealthClock, stamps: Stamps): Now {
  return { wallMs, healthMs: healthClock.at(monotonicMs()), stamp: stamps.next(wallMs) }
}

/** What every protocol calls. */
function openOperations(parts: Parts & OperatedParts, settings: Settings): Operations {
  const { state, timeline, installation, care, members, machine, watch, pushing, publishing } = parts
  const { polls, audit, live, clients } = parts
  const { pushes, streams } = pushing
  const subscriberCount = (): number => pushes.counts().subscribers + streams.counts().subscribers
  const clientCounter = clientCounterOf(parts)
  const views = installation.viewsOf({
    watchersOf: (key) => polls.watchersOf(key),
    clientsOf: (key) => polls.clientsOf(key),
    clientCounts: (keys) => polls.clientCounts(keys),
    watchedBy: (ip) => polls.watchedBy(ip),
    condition: () => ({
      behind: clientsBehind(polls.recentPolls(), state, wallMs()),
      subscriberCount: subscriberCount(),
      lagMs: installation.lagMs(),
      faults: [...watch.notReady(), ...watch.warnings()],
    }),
    subscribers: (key) => subscribersOf(pushing, key),
    timeline: (key) => timeline.of(key),
    connectedClients: (search) => clients.list(search),
    dismiss: (dismissal) => clients.dismiss(dismissal),
  })
  return serverOperations(
    {
      ...parts,
      ...publishing,
      pushes: {
        subscribe: (subscriber) => pushes.subscribe(subscriber),
        list: (key) => subscribersOf(pushing, key),
      },
      streams,
      readers: pushing.readers,
      live: live.streams,
      views,
      probes: parts.probing,
      members: () => members.list(),
      leader: () => members.leader(),
      cluster: () => members.cluster(),
      machine: () => machine.read(),
      subscriberCount,
      responsible: () => responsibleFor(state, care.judges),
      clientCounts: () => clientCounter.count(),
      judges: care.judges,
      scrape: watch.scrape,
      room: watch.room,
      trail: audit.trail,
    },
    settings,
  )
}

function clientCounterOf({
  state,
  clients,
  pushing,
  care,
}: Pick<Parts & OperatedParts, 'state' | 'clients' | 'pushing' | 'care'>): ClientCounter {
  const pushed = () => pushing.pushes.all()
  return new ClientCounter({ state, connections: clients.book, pushed, judges: care.judges })
}

function openHttp(parts: Parts & HttpParts, settings: Settings): HttpServer {
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
async function closeAudit({ audit, watch }: Pick<Parts, 'audit' | 'watch'>): Promise<void> {
  await audit.close().catch((error: unknown) => watch.report(error, 'the last events of the audit are lost'))
}

async function closeSockets({ pushing, probing }: Pick<JobParts, 'pushing' | 'probing'>): Promise<void> {
  await Promise.all([pushing.socket.close(), probing.prober.close()])
}
