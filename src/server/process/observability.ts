import type { Engine, KeptRecords } from '../../core/engine/ports.ts'
import type { Liveness } from '../../core/naming/liveness/liveness.ts'
import { NAMESPACE } from '../../core/namespaces/namespace.ts'
import { StoreRoom, withinRoom } from '../../core/engine/store-room.ts'
import type { Boundary } from '../../core/unexpected.ts'
import type { State } from '../../core/engine/state.ts'
import { Alarms } from '../../metrics/alarms.ts'
import { auditMetrics } from '../../metrics/audit-metrics.ts'
import { certificateMetrics } from '../../metrics/certificate-metrics.ts'
import { ChangeCounts } from '../../metrics/change-counts.ts'
import {
  ClientRequestCounts,
  type ConnectionFigures,
  connectionMetrics,
} from '../../metrics/connection-metrics.ts'
import { FigureHistory } from '../../metrics/figure-history.ts'
import { Faults } from '../../metrics/faults.ts'
import { LoopDelay } from '../../metrics/loop-delay.ts'
import { MemoryWatch } from '../../metrics/memory-watch.ts'
import type { Metric } from '../../metrics/metric.ts'
import { MetricsPage, type Scraped } from '../../metrics/metrics-page.ts'
import { nacosMetrics } from '../../metrics/nacos-metrics.ts'
import { processMemory, processMetrics } from '../../metrics/process-metrics.ts'
import { publishingMetrics, type PublishingFigures } from '../../metrics/publishing-metrics.ts'
import { type Lasting, type NotReady, Readiness, type ReadinessOptions } from '../../metrics/readiness.ts'
import { type MeasureRoom, RoomWatch } from '../../metrics/room-watch.ts'
import { RequestCounts } from '../../metrics/request-counts.ts'
import { serverMetrics, type ServerFigures } from '../../metrics/server-metrics.ts'
import { StoreWatch } from '../../metrics/store-watch.ts'
import type { WatchLog } from '../../metrics/watch-log.ts'
import type { Prober } from '../../probes/prober.ts'
import type { HttpServer } from '../../protocols/http/transport/http-server.ts'
import type { Audit } from './audit.ts'
import { changedSettings, type Settings } from '../../settings/settings.ts'
import type { ConfigWatchers } from '../../subscribers/config-watchers.ts'
import type { EventStreams } from '../../subscribers/event-streams.ts'
import type { PushOutlet } from '../../subscribers/push-outlet.ts'
import type { StreamOutlet } from '../../subscribers/stream-outlet.ts'
import type { Certificates } from './certificates.ts'
import { packageVersion } from '../../command/version.ts'

/** The dependencies of `Observability`. */
export interface ObservabilityOptions {
  readonly store: Pick<KeptRecords, 'remember'>
  /** See `ReadinessOptions.cutOff`. */
  readonly cutOff?: ReadinessOptions['cutOff']
  /** See `ReadinessOptions.lagging`. */
  readonly lagging?: ReadinessOptions['lagging']
  /** See `ReadinessOptions.storeFaults`. */
  readonly storeFaults?: ReadinessOptions['storeFaults']
  /** See `RoomWatchOptions.measure`. */
  readonly measureRoom?: MeasureRoom
  /** The files of the store. Absent, undefined or an error: unknown. */
  readonly storeBytes?: () => Promise<number | undefined>
  readonly log: WatchLog
  readonly settings: Settings
  readonly monotonicMs: () => number
}

/** The parts that figures are read from. */
export interface ObservedParts {
  readonly state: State
  readonly liveness: Liveness
  readonly engine: Engine
  readonly polls: ConfigWatchers
  readonly live: { readonly streams: EventStreams }
  readonly pushes: PushOutlet
  readonly streams: StreamOutlet
  readonly prober: Prober
  readonly http: HttpServer
  readonly connections: { readonly figures: ConnectionFigures }
  readonly certificates: Certificates | undefined
  readonly audit: Audit
  readonly publishing: { readonly figures: PublishingFigures }
  readonly installation: { metrics(): Metric[] }
  readonly machine: { read(): { readonly cpu: number; readonly load: number } }
}

/** Metrics, readiness and log lines of the server. `observe` adds the parts once they exist. */
export class Observability {
  readonly #options: ObservabilityOptions
  /** Measures commits, and knows whether the store can write. */
  readonly store: StoreWatch
  /** The room of the store, and its watch. */
  readonly room: StoreRoom
  readonly roomWatch: RoomWatch
  /** The memory of the data. */
  readonly memory: MemoryWatch
  readonly requests = new RequestCounts()
  readonly clientRequests = new ClientRequestCounts()
  readonly changes = new ChangeCounts()
  /** This server's measurements of the last hour. */
  readonly figures = new FigureHistory()
  readonly #faults: Faults
  readonly #readiness: Readiness
  readonly #loop = new LoopDelay()
  #page = new MetricsPage([])
  #nacosPage = new MetricsPage([])
  #alarms: Alarms | undefined
  #connections: () => number = () => 0

  constructor(options: ObservabilityOptions) {
    this.#options = options
    const { monotonicMs, cutOff, lagging, storeFaults } = options
    this.store = new StoreWatch({ ...options, isFull: () => void this.roomWatch.look(true) })
    this.room = new StoreRoom(options.settings.storeReserveBytes)
    this.roomWatch = new RoomWatch({ ...options, measure: options.measureRoom, room: this.room })
    this.memory = new MemoryWatch(options)
    this.#faults = new Faults(options)
    const { full } = this.roomWatch
    const { scarce } = this.memory
    const outage = (): Lasting | undefined => this.store.outage()
    this.#readiness = new Readiness({ outage, cutOff, lagging, full, scarce, storeFaults, monotonicMs })
  }

  /** Logs a fault that no client was answered with. An outage of the store is logged once. */
  readonly report = (error: unknown, text: string, facts: object = {}): void => {
    if (!this.store.noteFailure(error)) this.#options.log.error({ ...facts, err: error }, text)
  }

  /** See `FaultSink.caught`. An outage of the store is no fault, and is logged once. */
  readonly caught = (boundary: Boundary, error: unknown, facts: object = {}): void => {
    if (!this.store.noteFailure(error)) this.#faults.caught(boundary, error, facts)
  }

  /** The log of HTTP. An `error` there is a request that failed by a fault. */
  get requestLog(): Pick<WatchLog, 'error' | 'warn'> {
    const { log } = this.#options
    const error = ({ err, ...facts }: { err?: unknown }, what: string): void =>
      this.caught('request', err, { ...facts, what })
    return { error, warn: (facts, text) => log.warn(facts, text) }
  }

  /** The faults since the start, by boundary. */
  readonly faults = (): Partial<Record<Boundary, number>> => this.#faults.counts()

  /** The engine, which refuses changes that do not fit into the store. */
  readonly withinRoom = (engine: Engine): Engine =>
    withinRoom(engine, this.room, () => this.roomWatch.look(true))

  readonly notReady = (): readonly NotReady[] => this.#readiness.problems()

  readonly warnings = (): readonly NotReady[] => this.#readiness.warnings()

  readonly scrape = (): Promise<Scraped> => this.#page.scrape()

  /** The page under the names of the Java server. */
  readonly scrapeForNacos = (): Promise<Scraped> => this.#nacosPage.scrape()

  /** Starts to watch the parts. */
  observe(parts: ObservedParts): void {
    const { log, monotonicMs, settings } = this.#options
    this.#page = new MetricsPage([
      ...serverMetrics(this.#figuresOf(parts)),
      ...this.requests.metrics(),
      ...connectionMetrics(parts.connections.figures),
      ...publishingMetrics(parts.publishing.figures),
      ...this.clientRequests.metrics(),
      ...this.store.metrics(),
      ...this.roomWatch.metrics(),
      ...this.memory.metrics(),
      ...this.changes.metrics(),
      ...this.#faults.metrics(),
      ...this.#loop.metrics(),
      ...parts.installation.metrics(),
      ...auditMetrics(parts.audit.trail),
      ...certificateMetrics(() => parts.certificates?.status()),
      ...processMetrics(),
    ])
    const nacos = nacosMetrics({
      ...this.#figuresOf(parts),
      requests: () => this.requests.timings(),
      clientRequests: () => this.clientRequests.timings(),
      connectedClients: parts.connections.figures.connections,
      machine: () => parts.machine.read(),
    })
    this.#nacosPage = new MetricsPage([...nacos, ...processMetrics()])
    this.#alarms = new Alarms({
      log,
      monotonicMs,
      loopDelay: () => this.#loop.read().max,
      refusedPolls: () => parts.polls.counts().refused,
      maxHeldPolls: settings.maxHeldPolls,
      forgotten: () => parts.liveness.counts.forgotten,
    })
    this.#connections = () => parts.http.openConnections() + parts.connections.figures.sockets()
    this.measure().catch((error: unknown) => this.caught('job', error, { job: 'figures' }))
    void this.roomWatch.look()
  }

  /** Call it at each pulse of the jobs, with its delay. */
  readonly pulse = (lateMs: number): void => this.#loop.note(lateMs)

  /** Call it each second. */
  async tick(): Promise<void> {
    this.#loop.tick()
    this.#alarms?.tick()
    this.#faults.tick()
    this.memory.tick()
    await this.store.tick()
    await this.roomWatch.look()
  }

  /** Measures the values of `figures`. Call it every `FIGURES_MS`. */
  async measure(): Promise<void> {
    const { storeBytes, monotonicMs } = this.#options
    // An absent store is reported elsewhere.
    const bytes = await storeBytes?.().catch(() => undefined)
    const { user, system } = process.cpuUsage()
    const reading = {
      requests: this.requests.answered + this.clientRequests.answered,
      processorMs: (user + system) / 1_000,
      memoryBytes: processMemory().rss,
      connections: this.#connections(),
      storeBytes: bytes,
    }
    this.figures.add(reading, monotonicMs())
  }

  started(url: string): void {
    const { log, settings } = this.#options
    const facts = { version: packageVersion(), node: process.version, pid: process.pid, url }
    log.info({ ...facts, settings: changedSettings(settings) }, 'the server has started')
  }

  /** The server is not ready from now on. */
  stopping(): void {
    this.#readiness.stopping()
    this.#options.log.info({}, 'the server is stopping: no new connections, what was begun is finished')
  }

  stopped(): void {
    const upMs = Math.round(process.uptime() * 1_000)
    this.#options.log.info({ upMs }, 'the server has stopped')
  }

  #figuresOf({
    state,
    liveness,
    engine,
    polls,
    live,
    pushes,
    streams,
    prober,
    http,
  }: ObservedParts): ServerFigures {
    return {
      version: packageVersion(),
      isReady: () => this.notReady().length === 0,
      connections: () => http.openConnections(),
      lostConnections: () => http.connectionCounts(),
      inFlight: () => http.inFlight(),
      backlog: () => engine.backlog,
      polls: () => polls.counts(),
      live: () => live.streams.counts(),
      pushes: () => pushes.counts(),
      streams: () => streams.counts(),
      health: () => liveness.counts,
      probes: () => prober.counts(),
      known: () => ({
        services: state.services.size,
        instances: state.instancesInAll,
        configs: state.configs.size,
        namespaces: state.recordCount(NAMESPACE),
      }),
    }
  }
}
