import type { Logger } from 'pino'
import { ClusterView, HeardServers } from '../../cluster/cluster-view.ts'
import { MemberClocks, OwnLag } from '../../cluster/member-clocks.ts'
import { MemberWatch } from '../../cluster/member-watch.ts'
import { OwnStanding } from '../../cluster/standing.ts'
import { PeerClient } from '../../cluster/peer-client.ts'
import { PeerServer } from '../../cluster/peer-server.ts'
import { PeerViews } from '../../cluster/peer-views.ts'
import { SharedNamingCare } from '../../cluster/shared-naming-care.ts'
import type { OwnViews } from '../../core/clients/client-views.ts'
import {
  ELECTED,
  ELECTION,
  MEMBER,
  memberIdOf,
  type MemberFacts,
} from '../../core/cluster/members/member-records.ts'
import { noteServer, SERVER } from '../../core/cluster/members/server-records.ts'
import type { Engine, KeptRecords, Snapshot } from '../../core/engine/ports.ts'
import { SharedEngine } from '../../core/engine/shared-engine.ts'
import { SharedFollower } from '../../core/engine/shared-follower.ts'
import type { State } from '../../core/engine/state.ts'
import type { Room } from '../../core/engine/store-room.ts'
import { clusterMetrics } from '../../metrics/cluster-metrics.ts'
import type { Metric } from '../../metrics/metric.ts'
import type { Lagging, Lasting, StoreFault } from '../../metrics/readiness.ts'
import type { ClientViews } from '../../operations/client-views.ts'
import type { Settings } from '../../settings/settings.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { quotaOf } from '../../store/etcd/space/space.ts'
import { openEtcd, type OpenEtcd } from '../../store/etcd/open-etcd.ts'
import type { AuthenticationMode } from '../process/authentication-mode.ts'
import { loop, monotonicMs, wallMs } from '../process/clocks.ts'
import { Ending } from '../process/ending.ts'
import { answering, EtcdFiles, historyLimits, MeasuredShares } from './etcd-limits.ts'
import { etcdPlaceOf } from './etcd-place.ts'
import { memoryLimitsOf } from '../process/memory-limits.ts'
import { requireNotedMemory } from '../process/stored-memory.ts'
import { InstallationSecrets } from './installation-secrets.ts'
import type {
  Care,
  CareParts,
  EngineParts,
  Installation,
  Members,
  MembersParts,
} from '../process/installation.ts'
import { responsibleFor } from '../process/responsible.ts'
import { SharedMembers } from './shared-members.ts'
import { StoreFaults } from './store-faults.ts'
import { reportsOf } from './store-reports.ts'
import { oneCluster, ownFacts, warnOfNetworks, withoutAlarm, withPatience } from './shared-start.ts'

/** How long a new member waits until it sees itself among the members, and how often it looks. */
const SEEN_MS = 5_000
const LOOK_MS = 10
/** A lease that is renewed each second is certain for longer. */
const HAS_STORE_MS = 5_000
/** A server with older data has not caught up. A quiet etcd is asked once a second for news. */
const CAUGHT_UP_MS = 3_000

/** Once an hour each key is compared with etcd, and each minute the numbers of keys. */
const COMPARISONS_UNTIL_EACH = 60

const CUT_OFF =
  'This server has lost the store, and others have not: use another server until this one has caught up.'

/** An opened installation. */
interface OpenedInstallation {
  readonly settings: Settings
  readonly log: Logger
  readonly etcd: OpenEtcd
  readonly own: Omit<MemberFacts, 'auth'>
  readonly ended: Promise<Error>
  readonly snapshot: Snapshot
  readonly secrets: InstallationSecrets
}

/** The followers of the store. */
interface Following {
  readonly state: State
  readonly engine: SharedEngine
  readonly stamps: EngineParts['stamps']
}

/** One of several equal servers, which share a store in etcd. */
export class SharedInstallation implements Installation {
  readonly store: KeptRecords
  readonly snapshot: Snapshot
  readonly file = undefined
  readonly lastRefAheadMs = 1_000
  readonly sharedOrigin: string
  readonly ended: Promise<Error>
  readonly process: string
  readonly #opened: OpenedInstallation
  readonly #id: string
  readonly #client: PeerClient
  readonly #standing: OwnStanding
  readonly #heard: HeardServers
  readonly #lag: OwnLag
  readonly #watch: MemberWatch
  readonly #clocks: MemberClocks
  readonly #shares: MeasuredShares
  readonly #files: EtcdFiles
  readonly #faults: StoreFaults
  #following: Following | undefined
  #care: SharedNamingCare | undefined
  #views: PeerViews | undefined
  #clusterView: ClusterView | undefined
  #server: PeerServer | undefined
  #aloneSinceMs: number | undefined
  #comparisons = 0

  private constructor(opened: OpenedInstallation) {
    const { etcd, own, ended, snapshot, secrets, log } = opened
    this.#opened = opened
    this.#id = memberIdOf(own)
    this.store = etcd.store
    this.process = own.process
    this.snapshot = snapshot
    this.ended = ended
    this.sharedOrigin = secrets.origin
    this.#client = new PeerClient({ secrets: secrets.ofPeers, log })
    this.#shares = new MeasuredShares(etcd, opened.settings.etcdQuotaBytes)
    this.#files = new EtcdFiles(etcd, opened.settings)
    const asking = { client: this.#client, self: this.#id, peers: () => this.#peers(), monotonicMs }
    this.#heard = new HeardServers({
      ...asking,
      isKnown: (id) => this.#following?.state.record(SERVER, id) !== undefined,
    })
    this.#standing = new OwnStanding({
      client: this.#client,
      self: this.#id,
      members: () => this.#members(),
      isCertain: () => this.isMember(),
      hasStore: () => etcd.membership.leaseUntilMs() - monotonicMs() > HAS_STORE_MS,
      hasCaughtUp: () => this.#isSeen() && etcd.store.figures.lagMs < CAUGHT_UP_MS,
    })
    this.#lag = new OwnLag({
      ...asking,
      lagMs: () => this.lagMs(),
      isMember: () => this.isMember(),
    })
    this.#watch = new MemberWatch({
      self: this.#id,
      members: () => this.#members(),
      replies: (id) => this.#heard.replies(id),
      monotonicMs,
      log,
    })
    const latestMs = (): number => this.#following?.stamps.latestMs ?? 0
    this.#clocks = new MemberClocks({ ...asking, wallMs, latestMs, log })
    this.#faults = new StoreFaults({ store: etcd.store, files: this.#files, log, monotonicMs })
  }

  /** Opens the store and loads it. Rejects with an Error if etcd cannot be reached, or is not for this version. */
  static async open(settings: Settings, log: Logger): Promise<SharedInstallation> {
    if (settings.etcdEndpoints.length === 0)
      throw new Error('store=etcd needs the addresses of etcd: set them with --etcd-endpoints.')
    warnOfNetworks(settings, log)
    const named = etcdPlaceOf(settings, globalThis.process.env)
    const own = ownFacts(settings, named)
    const { ended, failed } = new Ending()
    const { process } = own
    const place = { ...named, member: memberIdOf(own), process }
    const compact = settings.etcdCompact
    let history = historyLimits(settings, settings.etcdQuotaBytes)
    const etcd = openEtcd({
      ...place,
      compact,
      history: () => history,
      clock: systemClock,
      failed,
      ...reportsOf(log),
    })
    try {
      await withPatience(() => etcd.client.checkVersions(), { log })
      await oneCluster(etcd)
      await withoutAlarm(etcd, log)
      history = historyLimits(settings, quotaOf(await answering(etcd), settings.etcdQuotaBytes))
      await withPatience(() => requireNotedMemory(etcd.store, memoryLimitsOf(settings)), { log })
      const snapshot = await withPatience(() => etcd.store.load(), { log })
      const secrets = await withPatience(() => InstallationSecrets.open(etcd, { log, failed }), { log })
      return new SharedInstallation({ settings, log, etcd, own, ended, snapshot, secrets })
    } catch (error) {
      await etcd.store.close()
      throw error
    }
  }

  engineOn({ follower, stamps, clock, watch, onReload }: EngineParts): Engine {
    const { store } = this.#opened.etcd
    const engine = new SharedEngine({
      follower,
      store: watch.store.shared(store),
      clock,
      loop,
      report: watch.report,
      // The registration of an instance, and the remembered metadata of it.
      mostBytesOfOne: 2 * this.#opened.settings.maxInstanceMetadataBytes,
    })
    this.#following = { state: follower.state, engine, stamps }
    const shared = new SharedFollower(follower, stamps)
    store.follow({
      applied: (commit) => shared.applied(commit),
      hasService: (service) => shared.hasService(service),
      reloaded: (snapshot) => {
        shared.reloaded(snapshot)
        this.#care?.reloaded()
        onReload()
      },
    })
    return engine
  }

  async membersOf({ state, engine, watch }: MembersParts): Promise<Members> {
    const { ip, port, site } = this.#opened.own
    await engine.execute(noteServer(this.#id, { ip, port, site }))
    const view = new ClusterView({
      client: this.#client,
      self: this.#id,
      state,
      store: this.#opened.etcd.store,
      leaseUntilMs: () => this.#opened.etcd.membership.leaseUntilMs(),
      standing: this.#standing,
      judged: () => responsibleFor(state, this.#care?.judges),
      heard: this.#heard,
      clocks: this.#clocks,
      forMs: (id) => this.#watch.forMs(id),
      figures: () => watch.figures.read(),
      monotonicMs,
    })
    this.#clusterView = view
    return new SharedMembers({
      state,
      engine,
      view,
      leaseUntilMs: () => this.#opened.etcd.membership.leaseUntilMs(),
      isElected: () => this.isElected(),
      heard: this.#heard,
      clocks: this.#clocks,
      report: watch.report,
    })
  }

  lagMs(): number {
    return this.#opened.etcd.store.figures.lagMs
  }

  viewsOf(own: OwnViews): ClientViews {
    this.#views = new PeerViews({ client: this.#client, peers: () => this.#peers(), own })
    return this.#views
  }

  careOf({ state, liveness, engine, healthClock, isAlive, watch }: CareParts): Care {
    const { emptyServiceExpiryMs, expiredMetadataTimeMs } = this.#opened.settings
    liveness.processes.follow((process) => this.#client.refuses(process))
    this.#care = new SharedNamingCare({
      state,
      liveness,
      engine,
      isAlive,
      clock: healthClock,
      monotonicMs,
      loop,
      self: this.#id,
      isMember: () => this.isMember(),
      client: this.#client,
      log: this.#opened.log,
      report: watch.report,
      emptyServiceExpiryMs,
      expiredMetadataTimeMs,
    })
    return this.#care
  }

  readonly cutOff = (): Lasting | undefined => {
    if (this.#aloneSinceMs === undefined) return undefined
    return { reason: CUT_OFF, forMs: Math.round(monotonicMs() - this.#aloneSinceMs) }
  }

  readonly storeFaults = (): readonly StoreFault[] => this.#faults.current
  readonly lagging = (): Lagging | undefined => this.#lag.current

  isMember(): boolean {
    return monotonicMs() < this.#opened.etcd.membership.leaseUntilMs()
  }

  isElected(): boolean {
    return this.#following?.state.record(ELECTION, ELECTED)?.member === this.#id && this.isMember()
  }

  async look(): Promise<void> {
    if (this.isMember()) this.#watch.look()
    this.#opened.secrets.look(this.isElected())
    void this.#opened.etcd.store.care(this.isElected()).catch(() => undefined)
    await Promise.all([this.#standing.look(), this.#lag.look()])
    if (this.#standing.current !== 'alone') this.#aloneSinceMs = undefined
    else this.#aloneSinceMs ??= monotonicMs()
  }

  measureRoom(isUrgent: boolean): Promise<Room | undefined> {
    return this.#files.room(isUrgent)
  }

  storeBytes(): Promise<number | undefined> {
    return this.#files.largest()
  }

  async compare(): Promise<void> {
    const { etcd, log } = this.#opened
    const { state } = this.#following!
    const each = this.#comparisons++ % COMPARISONS_UNTIL_EACH === COMPARISONS_UNTIL_EACH - 1
    const counts = {
      config: state.configs.size,
      service: state.services.size,
      instance: state.instancesInAll,
    }
    if (each) await this.#faults.look()
    for (const difference of await etcd.store.compare({ each, counts }))
      log.error({ ...difference }, 'what this server knows differs from etcd: it is loaded again')
  }

  async clean(): Promise<void> {
    await this.#shares.measure()
    await this.#opened.etcd.compaction.step()
    while ((await this.#opened.etcd.store.cleanChunks(wallMs())).more);
  }

  metrics(): Metric[] {
    return clusterMetrics({
      feed: () => this.#opened.etcd.store.figures,
      conflicts: () => this.#following?.engine.counts.conflicts ?? 0,
      members: () => this.#members().size,
      isElected: () => this.isElected(),
      standing: () => this.#standing.current,
      quotaShares: () => (this.isElected() ? this.#shares.current : undefined),
      clockAheadMs: () => this.#clocks.aheadMs(this.#id) ?? 0,
      care: () => this.#care?.figures(),
      answered: () => this.#server?.counts,
    })
  }

  /** Others may ask this server as soon as it is a member, so it can answer them before. */
  async enter(auth: AuthenticationMode): Promise<void> {
    await this.#answerPeers()
    const { etcd, own, log } = this.#opened
    await withPatience(() => etcd.membership.join({ ...own, auth }), { log })
    const untilMs = monotonicMs() + SEEN_MS
    while (!this.#isSeen() && monotonicMs() < untilMs) await systemClock.sleep(LOOK_MS)
    // Members that join from now on are reported.
    this.#watch.look()
  }

  readonly handOver = (): Promise<void> => this.#opened.etcd.membership.leave()

  async leave(): Promise<void> {
    await this.#opened.etcd.membership.leave()
    this.#client.close()
    await this.#server?.close()
    await this.store.close()
  }

  async #answerPeers(): Promise<void> {
    const { settings, log, own, secrets } = this.#opened
    const server = await PeerServer.open({
      host: settings.host,
      port: own.peerPort,
      process: own.process,
      secrets: secrets.ofPeers,
      report: (err, question) =>
        log.error({ err, question }, 'a question of another server could not be answered'),
    }).catch((cause: Error) => {
      throw new Error(`cannot listen on peer-port ${own.peerPort}: ${cause.message}`, { cause })
    })
    this.#server = server
    this.#standing.answerOn(server)
    this.#heard.answerOn(server)
    this.#clocks.answerOn(server)
    this.#clusterView?.answerOn(server)
    this.#care?.answerOn(server)
    this.#views?.answerOn(server)
  }

  /** Whether this server is among the members in its state. */
  #isSeen(): boolean {
    return this.#members().get(this.#id)?.process === this.#opened.own.process
  }

  #members(): Map<string, MemberFacts> {
    return new Map(this.#following?.state.records(MEMBER))
  }

  #peers(): Map<string, MemberFacts> {
    return new Map([...this.#members()].filter(([id]) => id !== this.#id))
  }
}
