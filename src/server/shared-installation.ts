import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { packageVersion } from '../command/version.ts'
import { ELECTED, ELECTION, memberIdOf, type MemberFacts } from '../core/cluster/member-records.ts'
import { noteServer } from '../core/cluster/server-records.ts'
import type { Engine } from '../core/engine.ts'
import type { KeptRecords, Snapshot } from '../core/ports.ts'
import { SharedEngine } from '../core/shared-engine.ts'
import { SharedFollower } from '../core/shared-follower.ts'
import type { State } from '../core/state.ts'
import { isLoopback } from '../protocols/http/transport/cross-site-guard.ts'
import type { OwnViews } from '../core/cluster/client-views.ts'
import { type ClientViews, viewsOfOne } from '../operations/client-views.ts'
import { advertisedHost, advertisedPort } from '../server-address.ts'
import type { Settings } from '../settings/settings.ts'
import { systemClock } from '../store/etcd/client/clock.ts'
import { EtcdError } from '../store/etcd/client/etcd-error.ts'
import { openEtcd, type OpenEtcd } from '../store/etcd/open-etcd.ts'
import type { AuthenticationMode } from './authentication-mode.ts'
import { loop, monotonicMs } from './clocks.ts'
import type { Care, CareParts, EngineParts, Installation, Members, MembersParts } from './installation.ts'
import { Ending } from './ending.ts'
import { SharedMembers } from './shared-members.ts'

/** The peer port is so far above the port. */
const PEER_PORT_OFFSET = 2_000
/** How long a start waits for etcd, and how often it tries. */
const REACH_MS = 60_000
const RETRY_MS = 500

/** An opened installation. */
interface Opened {
  readonly etcd: OpenEtcd
  readonly own: Omit<MemberFacts, 'auth'>
  readonly ended: Promise<Error>
  readonly snapshot: Snapshot
}

/** One of several equal servers, which share a store in etcd. */
export class SharedInstallation implements Installation {
  readonly store: KeptRecords
  readonly snapshot: Snapshot
  readonly file = undefined
  readonly ended: Promise<Error>
  readonly #etcd: OpenEtcd
  readonly #own: Omit<MemberFacts, 'auth'>
  readonly cutOff = () => undefined
  #state: State | undefined

  private constructor({ etcd, own, ended, snapshot }: Opened) {
    this.#etcd = etcd
    this.#own = own
    this.store = etcd.store
    this.snapshot = snapshot
    this.ended = ended
  }

  /** Opens the store and loads it. Rejects with an Error where etcd cannot be reached, or is not for this version. */
  static async open(settings: Settings, log: Logger): Promise<SharedInstallation> {
    const { etcdEndpoints: endpoints, etcdPrefix: prefix } = settings
    if (endpoints.length === 0)
      throw new Error('store=etcd needs the addresses of etcd: set them with --etcd-endpoints.')
    warnOfOpenNetworks(settings, log)
    const own = ownFacts(settings)
    const ending = new Ending()
    const etcd = openEtcd({
      endpoints,
      prefix,
      member: memberIdOf(own),
      process: own.process,
      clock: systemClock,
      failed: ending.failed,
    })
    try {
      await reachable(etcd, log)
      return new SharedInstallation({ etcd, own, ended: ending.ended, snapshot: await etcd.store.load() })
    } catch (error) {
      await etcd.store.close()
      throw error
    }
  }

  engineOn({ follower, stamps, clock, watch }: EngineParts): Engine {
    const { store } = this.#etcd
    this.#state = follower.state
    const engine = new SharedEngine({
      follower,
      store: watch.store.shared(store),
      clock,
      loop,
      report: watch.report,
    })
    store.follow(new SharedFollower(follower, stamps))
    return engine
  }

  async membersOf({ state, engine, watch }: MembersParts): Promise<Members> {
    const id = memberIdOf(this.#own)
    const { ip, port, site } = this.#own
    await engine.execute(noteServer(id, { ip, port, site }))
    return new SharedMembers({
      state,
      engine,
      leaseUntilMs: () => this.#etcd.membership.leaseUntilMs(),
      isElected: () => this.isElected(),
      report: watch.report,
    })
  }

  viewsOf(own: OwnViews): ClientViews {
    return viewsOfOne(own)
  }

  careOf(_parts: CareParts): Care {
    return { sweep() {}, expireServices: async () => undefined, forgetMetadata: async () => undefined }
  }

  isElected(): boolean {
    const elected = this.#state?.record(ELECTION, ELECTED)
    return elected?.member === memberIdOf(this.#own) && this.#isMember()
  }

  async enter(auth: AuthenticationMode): Promise<void> {
    await this.#etcd.membership.join({ ...this.#own, auth })
  }

  async leave(): Promise<void> {
    await this.#etcd.membership.leave()
    await this.store.close()
  }

  #isMember(): boolean {
    return monotonicMs() < this.#etcd.membership.leaseUntilMs()
  }
}

function ownFacts(settings: Settings): Omit<MemberFacts, 'auth'> {
  const { port, peerPort, site } = settings
  return {
    ip: advertisedHost(settings),
    port: advertisedPort(settings, port),
    peerPort: peerPort === 0 ? port + PEER_PORT_OFFSET : peerPort,
    site,
    version: packageVersion(),
    process: randomUUID(),
  }
}

/** Waits until etcd answers: when everything is started at once, it may be later than the servers. */
async function reachable({ client }: OpenEtcd, log: Logger): Promise<void> {
  const untilMs = monotonicMs() + REACH_MS
  for (let told = false; ; told = true) {
    try {
      return await client.checkVersions()
    } catch (error) {
      const isAway = error instanceof EtcdError && error.kind === 'unavailable'
      if (!isAway) throw error
      if (monotonicMs() > untilMs)
        throw new Error(`etcd cannot be reached: ${error.message}`, { cause: error })
      if (!told) log.warn({ err: error }, 'etcd cannot be reached: the start waits for it')
      await systemClock.sleep(RETRY_MS)
    }
  }
}

function warnOfOpenNetworks({ host, etcdEndpoints }: Settings, log: Logger): void {
  const open = etcdEndpoints.filter((endpoint) => !isLoopback(new URL(endpoint).hostname))
  if (open.length > 0)
    log.warn(
      { endpoints: open },
      'etcd is reached without TLS: its network must be private (docs/cluster.md)',
    )
  if (!isLoopback(host))
    log.warn({ host }, 'the peer port has no TLS: its network must be private (docs/cluster.md)')
}
