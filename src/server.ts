import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { packageVersion } from './command/version.ts'
import { Engine } from './core/engine.ts'
import { loadState } from './core/load-state.ts'
import { HealthClock } from './core/naming/health-clock.ts'
import type { ServiceKey } from './core/naming/service.ts'
import { HEARTBEAT_MS, Leadership } from './core/operator/leadership.ts'
import { serverStatus } from './core/operator/server-status.ts'
import type { Now, Store } from './core/ports.ts'
import type { State } from './core/state.ts'
import { Feed } from './feed/feed.ts'
import { HistoryCleaner } from './jobs/history-cleaner.ts'
import { NamingCare, SWEEP_MS } from './jobs/naming-care.ts'
import { Timers } from './jobs/timers.ts'
import { openLog } from './log.ts'
import { MachineLoad } from './machine/machine-load.ts'
import { Prober } from './probes/prober.ts'
import { instanceListAnswer } from './protocols/answers/instance-list.ts'
import { errorsOfPath } from './protocols/http/dialect-errors.ts'
import { createHttpServer } from './protocols/http/http-server.ts'
import { splitClusters } from './protocols/http/grouped-name.ts'
import type { Member } from './protocols/http/operator/operator-operations.ts'
import { serverGate } from './protocols/http/server-gate.ts'
import { PushSocket } from './protocols/udp/push-socket.ts'
import { Observability } from './observability.ts'
import { allRoutes } from './routes.ts'
import { advertisedHost, urlOf } from './server-address.ts'
import type { Settings } from './settings/settings.ts'
import { ServerBackups } from './store/embedded/backup/server-backups.ts'
import { type FileHolder, openEmbeddedStore } from './store/embedded/embedded-store.ts'
import { LongPolls } from './subscribers/long-poll.ts'
import { ProbeWatch } from './subscribers/probe-watch.ts'
import { GATHER_MS, LAPSE_MARGIN_MS, PushSubscribers } from './subscribers/push.ts'

/** A server that answers. */
export interface RunningServer {
  /** Where it listens, without a path: `http://127.0.0.1:8848`. */
  readonly url: string
  /** Finishes what was begun, closes the store, and resolves when nothing is left running. */
  stop(): Promise<void>
}

const monotonicMs = (): number => performance.now()
const wallMs = (): number => Date.now()
const loop = {
  now: monotonicMs,
  soon: (run: () => void) => void setImmediate(run),
  after: (ms: number, run: () => void) => void setTimeout(run, ms),
}

/** Starts a server with these settings; resolves once it answers. */
export async function startServer(settings: Settings): Promise<RunningServer> {
  const log = openLog(settings)
  const store = await openEmbeddedStore({ directory: settings.dataDir, log })
  try {
    return await startOn(store, settings, log)
  } catch (error) {
    await store.close()
    throw error
  }
}

/** The parts that work on what is known, joined: changes flow from the engine through the feed to subscribers. */
async function startOn(store: Store & FileHolder, settings: Settings, log: Logger): Promise<RunningServer> {
  const healthClock = new HealthClock(monotonicMs(), SWEEP_MS)
  const clock = (): Now => ({ wallMs: wallMs(), healthMs: healthClock.at(monotonicMs()) })
  const state = loadState(await store.load(), clock())
  const watch = new Observability({ store, log, settings, monotonicMs })
  const feed = new Feed({
    defer: loop.soon,
    report: (error, change) => watch.report(error, 'a subscriber of changes failed', { change: change.kind }),
  })
  const engine = new Engine({
    state,
    store: watch.store,
    clock,
    publish: (changes) => feed.publish(changes),
    defer: loop.soon,
    report: watch.report,
  })
  const polls = new LongPolls({
    md5Of: (keyText) => state.configs.getByText(keyText)?.md5 ?? '',
    loop,
    maxHeld: settings.maxHeldPolls,
    maxHeldOfAddress: settings.maxHeldPollsPerAddress,
  })
  const pushSocket = await openPushSocket(state, settings, log)
  const pushes = pushSubscribers(state, pushSocket)
  const prober = openProber(settings, log, { state, engine })
  feed.subscribe((change) => polls.onChange(change))
  feed.subscribe((change) => pushes.onChange(change))
  feed.subscribe((change) => prober.watch.onChange(change))
  feed.subscribe(watch.changes.onChange)

  const machine = new MachineLoad()
  const address = { host: advertisedHost(settings), port: settings.port }
  const leadership = await openLeadership(store, () => `${address.host}:${address.port}`)
  let statusMs = wallMs()
  const members = (): Member[] => [
    {
      ip: address.host,
      port: address.port,
      site: settings.site,
      alive: serverStatus(state.switches) === 'UP',
      lastRefMs: statusMs,
    },
  ]
  const backups = openBackups(store, settings, log)
  const http = createHttpServer({
    routes: allRoutes({
      state,
      engine,
      store,
      clock,
      polls,
      pushes,
      members,
      leader: () => leadership.view(monotonicMs()),
      machine: () => machine.read(),
      monotonicMs,
      settings,
      notReady: watch.notReady,
      scrape: watch.scrape,
      auditLog: log,
      backups,
    }),
    settings: { ...settings, maxHeaderBytes: settings.maxRequestLineBytes },
    fallbackErrors: errorsOfPath,
    gate: serverGate(state),
    onAnswer: watch.requests.onAnswer,
    onRefusal: watch.requests.onRefusal,
    log,
  })
  watch.observe({ state, engine, polls, pushes, prober: prober.prober, http })

  const cleaner = new HistoryCleaner({
    store,
    wallMs,
    monotonicMs,
    retentionMs: settings.historyRetentionMs,
    intervalMs: settings.historyCleanIntervalMs,
    keep: settings.historyKeep,
  })
  const care = new NamingCare({
    state,
    engine,
    clock: healthClock,
    monotonicMs,
    wallMs,
    liveShare: () => 1,
    emptyServiceExpiryMs: settings.emptyServiceExpiryMs,
    expiredMetadataTimeMs: settings.expiredMetadataTimeMs,
  })
  const timers = new Timers((error, job) => watch.report(error, 'a regular job failed', { job }))
  timers.every(SWEEP_MS, 'health sweep', () => care.sweep())
  timers.every(100, 'write behind', () => engine.tick())
  timers.every(50, 'held polls', () => polls.tick(monotonicMs()))
  timers.every(50, 'probes', () => prober.prober.tick())
  timers.every(1_000, 'empty services', () => care.expireServices())
  timers.every(settings.expiredMetadataIntervalMs, 'remembered metadata', () => care.forgetMetadata())
  timers.every(1_000, 'history', () => cleaner.tick())
  timers.every(1_000, 'pushes', () => {
    pushes.tick(monotonicMs())
    pushSocket.tick(monotonicMs())
  })
  timers.every(500, 'status', () => {
    // The wall clock may have been set back meanwhile.
    if (Math.abs(wallMs() - statusMs) < state.switches.serverStatusSynchronizationPeriodMillis) return
    machine.sample()
    statusMs = wallMs()
  })
  timers.every(1_000, 'watch', () => watch.tick())
  timers.every(HEARTBEAT_MS, 'leadership', () => leadership.heartbeat(monotonicMs()))

  const { port } = await http.listen(settings).catch(async (error: unknown) => {
    timers.stop()
    await Promise.all([pushSocket.close(), prober.prober.close()])
    throw error
  })
  address.port = port
  const stop = async (): Promise<void> => {
    watch.stopping()
    timers.stop()
    cleaner.stop()
    polls.answerAll()
    await backups.stop()
    await http.stop(settings.shutdownGraceMs)
    await Promise.all([pushSocket.close(), prober.prober.close(), engine.close()])
    await store.close()
    watch.stopped()
  }
  watch.started(urlOf(settings.host, port))
  return { url: urlOf(settings.host, port), stop }
}

function openBackups(store: FileHolder, settings: Settings, log: Logger): ServerBackups {
  return new ServerBackups({
    store,
    dataDirectory: settings.dataDir,
    backupDirectory: resolve(settings.backupDir || join(settings.dataDir, 'backups')),
    maxBackups: settings.maxBackups,
    bytesPerSecond: settings.backupBytesPerSecond,
    version: packageVersion(),
    log,
  })
}

function openPushSocket(state: State, settings: Settings, log: Logger): Promise<PushSocket> {
  return PushSocket.open({
    host: settings.host,
    loop,
    wallMs,
    enabled: () => state.switches.pushEnabled,
    maxDatagramsPerSecond: settings.maxDatagramsPerSecond,
    log: (message, error) => log.warn({ err: error }, message),
  })
}

function pushSubscribers(state: State, sender: PushSocket): PushSubscribers {
  return new PushSubscribers({
    sender,
    loop,
    enabled: () => state.switches.pushEnabled,
    gatherMs: ({ groupedName }) => (state.switches.incrementalList.includes(groupedName) ? 0 : GATHER_MS),
    lapseMs: () => state.switches.defaultPushCacheMillis + LAPSE_MARGIN_MS,
    isPersonal: (key) => state.service(key)?.selector.type === 'label',
    answerOf: (key, clustersText, consumerIp) => pushedAnswer(state, { key, clustersText, consumerIp }),
  })
}

/** A host is at least 260 bytes of JSON, so that a list of more exceeds what is packed at all (1 MiB). */
const MOST_PUSHED = 4_100

/** What is pushed: the list answer as the subscriber would be given it, with the longer cacheMillis. */
function pushedAnswer(
  state: State,
  to: { key: ServiceKey; clustersText: string; consumerIp: string | undefined },
): Buffer | undefined {
  if ((state.services.get(to.key)?.instances.size ?? 0) > MOST_PUSHED) return undefined
  return instanceListAnswer(state, {
    ...to,
    clusters: splitClusters(to.clustersText),
    healthyOnly: false,
    cacheMillis: state.switches.defaultPushCacheMillis,
  })
}

function openProber(
  settings: Settings,
  log: Logger,
  parts: { state: State; engine: Engine },
): { prober: Prober; watch: ProbeWatch } {
  const { state, engine } = parts
  const report = (key: string, healthy: boolean): void => {
    const instance = watch.instanceOf(key)
    if (instance === undefined) return
    const { address, serial } = instance.record
    const serviceKey = instance.entry.service.key
    engine.applyBehind([
      { kind: 'instance-health-changed', serviceKey, address, serial, healthy, atMs: wallMs() },
    ])
  }
  const params = () => {
    const { checkTimes, httpHealthParams, tcpHealthParams, mysqlHealthParams } = state.switches
    return {
      enabled: true,
      checkTimes,
      http: httpHealthParams,
      tcp: tcpHealthParams,
      mysql: mysqlHealthParams,
    }
  }
  const prober = new Prober({
    limit: settings.probeConcurrency,
    now: monotonicMs,
    random: Math.random,
    params,
    report,
    log,
  })
  const watch: ProbeWatch = new ProbeWatch(state, prober)
  return { prober, watch }
}

async function openLeadership(store: Store, address: () => string): Promise<Leadership> {
  const term = Number((await store.recall('term')) ?? 0) + 1
  await store.remember('term', String(term))
  return new Leadership(address, term, monotonicMs())
}
