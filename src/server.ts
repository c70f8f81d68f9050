import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { packageVersion } from './command/version.ts'
import { SoleEngine } from './core/sole-engine.ts'
import { Follower } from './core/follower.ts'
import { HealthClock } from './core/naming/health-clock.ts'
import { JUDGES_ALL, Liveness } from './core/naming/liveness.ts'
import type { Now, Snapshot, Store } from './core/ports.ts'
import { Stamps } from './core/stamps.ts'
import { Feed } from './feed/feed.ts'
import { SWEEP_MS } from './jobs/naming-care.ts'
import { Observability } from './observability.ts'
import { InstanceListAnswers } from './protocols/answers/instance-list.ts'
import { errorsOfPath } from './protocols/http/dialect-errors.ts'
import { createHttpServer, type HttpServer } from './protocols/http/transport/http-server.ts'
import { serverGate } from './protocols/http/endpoints/server-gate.ts'
import { allRoutes } from './routes.ts'
import { openAudit } from './server/audit.ts'
import { loop, monotonicMs, wallMs } from './server/clocks.ts'
import { Members } from './server/members.ts'
import { openMonitoring } from './server/monitoring.ts'
import { openSignIn, type SignIn } from './server/sign-in.ts'
import { serverOperations } from './server/server-operations.ts'
import { startProbing } from './server/probing.ts'
import { openPushing } from './server/pushing.ts'
import { type JobParts, startRegularJobs } from './server/regular-jobs.ts'
import { advertisedHost, urlOf } from './server-address.ts'
import type { Settings } from './settings/settings.ts'
import type { Certificates } from './server/certificates.ts'
import { ServerBackups } from './store/embedded/backup/server-backups.ts'
import type { LocalFile } from './store/local-file.ts'
import { LongPolls } from './subscribers/long-poll.ts'

/** A running server. */
export interface RunningServer {
  /** The address without a path: `http://127.0.0.1:8848`. */
  readonly url: string
  /** The one-time code for the first administrator, where there is none yet and authentication is on. */
  readonly firstCode: string | undefined
  /** Finishes the received requests and closes the store. Resolves when nothing runs any more. */
  stop(): Promise<void>
}

/** What is opened before the rest is loaded. */
export interface LoadedStore {
  readonly store: Store
  readonly file: LocalFile
  readonly snapshot: Snapshot
  /** Undefined where the server speaks no TLS. */
  readonly certificates: Certificates | undefined
}

/** Builds a server on an open store. Resolves when it listens. Its `stop` closes the store. */
export async function serveFrom(
  loaded: LoadedStore,
  settings: Settings,
  log: Logger,
): Promise<RunningServer> {
  const { store } = loaded
  const parts = await joinParts(loaded, settings, log)
  const { members, watch } = parts
  const signIn = await openSignIn({ ...parts, trail: parts.audit.trail }, settings, log).catch(
    async (error: unknown) => {
      await closeSockets(parts)
      throw error
    },
  )
  const backups = openBackups(loaded.file, settings, log)
  const http = openHttp({ ...parts, ...loaded, backups, signIn }, settings, log)
  watch.observe({
    ...parts,
    pushes: parts.pushing.pushes,
    prober: parts.probing.prober,
    http,
    certificates: loaded.certificates,
  })
  const jobs = startRegularJobs(
    { ...parts, signIn, certificates: loaded.certificates, useKeyPair: (pair) => http.useKeyPair(pair) },
    settings,
  )
  const monitoring = openMonitoring(watch, settings, log)
  const listening = monitoring.listen().then(() => http.listen(settings))
  const { port } = await listening.catch(async (error: unknown) => {
    jobs.stop()
    await Promise.all([monitoring.stop(), closeSockets(parts)])
    throw error
  })
  members.listensOn(port)
  const url = urlOf(settings, port)
  watch.started(url)
  const stop = async (): Promise<void> => {
    watch.stopping()
    jobs.stop()
    await http.stopListening()
    // From now on answers close their connections, also those of held polls.
    const closed = http.stop(settings.shutdownGraceMs)
    parts.polls.answerAll()
    await Promise.all([closed, backups.stop(), monitoring.stop()])
    await Promise.all([closeSockets(parts), parts.engine.close(), closeAudit(parts)])
    await store.close()
    watch.stopped()
  }
  return { url, firstCode: signIn.parts.firstCode.text, stop }
}

interface Parts extends Omit<JobParts, 'certificates' | 'useKeyPair'> {
  readonly lists: InstanceListAnswers
}

interface HttpParts extends Pick<LoadedStore, 'certificates'> {
  readonly backups: ServerBackups
  readonly signIn: SignIn
}

/** Creates and connects the parts. Changes flow one way: engine, state, feed, subscribers. */
async function joinParts({ store, snapshot }: LoadedStore, settings: Settings, log: Logger): Promise<Parts> {
  const healthClock = new HealthClock(monotonicMs(), SWEEP_MS)
  const stamps = new Stamps()
  const clock = (): Now => clockAt(wallMs(), healthClock, stamps)
  const watch = new Observability({ store, log, settings, monotonicMs })
  const feed = new Feed({
    defer: loop.soon,
    report: (error, change) => watch.report(error, 'a subscriber of changes failed', { change: change.kind }),
  })
  const liveness = new Liveness(JUDGES_ALL)
  const follower = Follower.load(snapshot, { clock, stamps, feed, presence: liveness }, settings)
  const { state } = follower
  const engine = new SoleEngine({ follower, store: watch.store, clock, loop, report: watch.report })
  const polls = new LongPolls({
    md5Of: (key) => state.config(key)?.md5 ?? '',
    loop,
    maxHeld: settings.maxHeldPolls,
    maxHeldOfAddress: settings.maxHeldPollsPerAddress,
  })
  const lists = new InstanceListAnswers(state, loop)
  const pushing = await openPushing({ state, lists }, settings, log)
  const probing = startProbing({ state, engine, clock }, settings, log)
  feed.subscribe((change) => polls.onChange(change))
  feed.subscribe((change) => pushing.serviceWatch.onChange(change))
  feed.subscribe((change) => probing.watch.onChange(change))
  feed.subscribe(watch.changes.onChange)
  const members = await Members.join(state, store, settings)
  return {
    state,
    liveness,
    lists,
    engine,
    store,
    healthClock,
    clock,
    polls,
    pushing,
    probing,
    members,
    watch,
    audit: openAudit({ store, clock, report: watch.report }, settings, log),
  }
}

function clockAt(wallMs: number, healthClock: HealthClock, stamps: Stamps): Now {
  return { wallMs, healthMs: healthClock.at(monotonicMs()), stamp: stamps.next(wallMs) }
}

function openHttp(parts: Parts & HttpParts, settings: Settings, log: Logger): HttpServer {
  const { state, members, watch, pushing, signIn, certificates, audit } = parts
  const { pushes } = pushing
  const operations = serverOperations(
    {
      ...parts,
      pushes,
      members: members.list,
      leader: members.leader,
      machine: members.machine,
      subscriberCount: () => pushes.counts().subscribers,
      scrape: watch.scrape,
      trail: audit.trail,
    },
    settings,
  )
  const { notReady } = watch
  return createHttpServer({
    routes: allRoutes({ operations, monotonicMs, settings, notReady }),
    settings: {
      ...settings,
      advertiseHost: advertisedHost(settings),
      maxHeaderBytes: settings.maxRequestLineBytes,
    },
    fallbackErrors: errorsOfPath,
    gate: serverGate(state),
    ...(certificates === undefined ? {} : { tls: certificates.pair }),
    ...(signIn.identification === undefined ? {} : { identification: signIn.identification }),
    onAnswer: watch.requests.onAnswer,
    onRefusal: watch.requests.onRefusal,
    onMalformed: watch.requests.onMalformed,
    log,
  })
}

function openBackups(file: LocalFile, settings: Settings, log: Logger): ServerBackups {
  return new ServerBackups({
    file,
    dataDirectory: settings.dataDir,
    backupDirectory: resolve(settings.backupDir || join(settings.dataDir, 'backups')),
    maxBackups: settings.maxBackups,
    bytesPerSecond: settings.backupBytesPerSecond,
    version: packageVersion(),
    log,
  })
}

/** What cannot be written is lost: the server stops all the same. */
async function closeAudit({ audit, watch }: Pick<Parts, 'audit' | 'watch'>): Promise<void> {
  await audit.close().catch((error: unknown) => watch.report(error, 'the last events of the audit are lost'))
}

async function closeSockets({ pushing, probing }: Pick<JobParts, 'pushing' | 'probing'>): Promise<void> {
  await Promise.all([pushing.socket.close(), probing.prober.close()])
}
