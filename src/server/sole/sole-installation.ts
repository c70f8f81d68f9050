import { hostPort } from '../../core/text/ip-address.ts'
import { randomUUID } from 'node:crypto'
import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { Engine, Snapshot, Store, KeptRecords } from '../../core/engine/ports.ts'
import { readOrNone, TERM } from '../../core/engine/remembered-values.ts'
import { REFUSED_WITHOUT_ROOM, type Room } from '../../core/engine/store-room.ts'
import { SoleEngine } from '../../core/engine/sole-engine.ts'
import { NamingCare } from '../../jobs/naming-care.ts'
import type { OwnViews } from '../../core/clients/client-views.ts'
import { type ClientViews, viewsOfOne } from '../../operations/client-views.ts'
import { showSize } from '../../settings/kinds.ts'
import type { Settings } from '../../settings/settings.ts'
import type { LocalFile } from '../../store/local-file.ts'
import { loop, monotonicMs, wallMs } from '../process/clocks.ts'
import {
  type Care,
  type CareParts,
  type EngineParts,
  type Installation,
  type Members,
  type MembersParts,
  HEARTBEAT_MS,
} from '../process/installation.ts'
import { serverStatus } from '../../core/operator/server-status.ts'
import type { ClusterMember } from '../../core/cluster/members/member-view.ts'
import type { ServerFigures } from '../../core/cluster/members/server-figures.ts'
import type { State } from '../../core/engine/state.ts'
import type { LeaderView, Member } from '../../operations/server/operator.ts'
import { advertisedHost, advertisedPort } from '../process/server-address.ts'

/** A store of one server, opened and loaded. */
export interface SoleStore {
  readonly store: Store
  readonly file: LocalFile
  readonly snapshot: Snapshot
}

const ADVICE = `Free some space on it: deletions do not make the file of the store smaller. ${REFUSED_WITHOUT_ROOM}`

/** A server that is alone on its data directory. */
export class SoleInstallation implements Installation {
  readonly store: Store
  readonly snapshot: Snapshot
  readonly file: LocalFile
  readonly process = randomUUID()
  readonly cutOff = undefined
  readonly lagging = undefined
  readonly storeFaults = undefined
  readonly lastRefAheadMs = 0
  readonly sharedOrigin = undefined
  /** Nothing ends it. */
  readonly ended = new Promise<Error>(() => {})
  readonly #settings: Settings

  constructor({ store, file, snapshot }: SoleStore, settings: Settings) {
    this.store = store
    this.file = file
    this.snapshot = snapshot
    this.#settings = settings
  }

  engineOn({ follower, clock, watch, trail }: EngineParts): Engine {
    const { store } = this
    return new SoleEngine({
      follower,
      store: watch.store.sole({
        commit: (groups) => trail.along((events) => store.commit(groups, events)),
        mayHave: (serial) => store.mayHave(serial),
        surelyHas: (serial) => store.surelyHas(serial),
      }),
      clock,
      loop,
      report: watch.report,
    })
  }

  membersOf({ state, watch }: MembersParts): Promise<Members> {
    const figures = () => watch.figures.read()
    return SoleMember.join({ state, settings: this.#settings, figures }, this.store)
  }

  lagMs(): number {
    return 0
  }

  viewsOf(own: OwnViews): ClientViews {
    return viewsOfOne(own)
  }

  careOf({ state, liveness, engine, healthClock, clock, isAlive }: CareParts): Care {
    const { emptyServiceExpiryMs, expiredMetadataTimeMs } = this.#settings
    return new NamingCare({
      state,
      liveness,
      engine,
      clock: healthClock,
      monotonicMs,
      now: clock,
      isAlive,
      loop,
      // The only server of the installation is alive.
      liveShare: () => 1,
      emptyServiceExpiryMs,
      expiredMetadataTimeMs,
    })
  }

  isMember(): boolean {
    return true
  }

  isElected(): boolean {
    return true
  }

  async look(): Promise<void> {}

  async measureRoom(): Promise<Room | undefined> {
    const { dataDir, storeReserveBytes: reserve } = this.#settings
    if (reserve === 0) return undefined
    const found = await statfs(dataDir).catch(() => undefined)
    if (found === undefined) return undefined
    const { bavail, bsize } = found
    const left = bavail * bsize
    const usage =
      `The disk of the data directory ${dataDir} has ${showSize(left)} left, ` +
      `of which ${showSize(reserve)} must stay free (store-reserve).`
    return { leftBytes: left - reserve, usage, advice: ADVICE }
  }

  async storeBytes(): Promise<number> {
    const { dataDir } = this.#settings
    const entries = await readdir(dataDir, { withFileTypes: true })
    // A file may go meanwhile.
    const sizes = entries
      .filter((entry) => entry.isFile())
      .map(({ name }) =>
        stat(join(dataDir, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      )
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  }

  async compare(): Promise<void> {}

  async clean(): Promise<void> {}

  metrics(): [] {
    return []
  }

  async enter(): Promise<void> {}

  async handOver(): Promise<void> {}

  leave(): Promise<void> {
    return this.store.close()
  }
}

/** How long a leader is the leader after its last heartbeat, ms. */
const LEASE_MS = 15_000

/** The dependencies of the list of the only server. */
interface SoleMemberParts {
  readonly state: State
  readonly settings: Settings
  /** The server's own measurements. */
  readonly figures: () => ServerFigures
}

/** The only server of an installation, as operators see it: its own leader. Its term counts its starts on these data. */
class SoleMember implements Members {
  readonly #state: State
  readonly #figures: () => ServerFigures
  readonly #settings: Settings
  readonly #term: number
  #port: number
  #refreshedMs = wallMs()
  #heartbeatMs = monotonicMs()
  readonly #sinceMs = monotonicMs()

  private constructor({ state, settings, figures }: SoleMemberParts, term: number) {
    this.#state = state
    this.#figures = figures
    this.#settings = settings
    this.#port = settings.port
    this.#term = term
  }

  /** Joins as the leader of a new term. Each start on the same data begins a term. */
  static async join(parts: SoleMemberParts, store: KeptRecords): Promise<SoleMember> {
    const term = (readOrNone(TERM, await store.recall(TERM.name)) ?? 0) + 1
    await store.remember(TERM.name, String(term))
    return new SoleMember(parts, term)
  }

  listensOn(port: number): void {
    this.#port = port
  }

  list(): readonly Member[] {
    const alive = serverStatus(this.#state.switches) === 'UP'
    const { site } = this.#settings
    const port = advertisedPort(this.#settings, this.#port)
    return [
      { ip: advertisedHost(this.#settings), port, site, alive, replies: true, lastRefMs: this.#refreshedMs },
    ]
  }

  cluster(): Promise<readonly ClusterMember[]> {
    return Promise.resolve(
      this.list().map(({ ip, port, site }) => {
        const role = { isSelf: true, isElected: true, forMs: Math.round(monotonicMs() - this.#sinceMs) }
        const unknown = { facts: undefined, view: undefined, clockAheadMs: undefined }
        return { id: hostPort(ip, port), ip, port, site, ...role, ...unknown, figures: this.#figures() }
      }),
    )
  }

  leader(): LeaderView {
    const sinceMs = Math.round(monotonicMs() - this.#heartbeatMs)
    const ip = hostPort(advertisedHost(this.#settings), advertisedPort(this.#settings, this.#port))
    return {
      heartbeatDueMs: Math.max(HEARTBEAT_MS - sinceMs, 0),
      ip,
      leaderDueMs: Math.max(LEASE_MS - sinceMs, 0),
      state: 'LEADER',
      term: this.#term,
      voteFor: ip,
    }
  }

  heartbeat(): void {
    this.#heartbeatMs = monotonicMs()
  }

  refresh(): void {
    this.#refreshedMs = wallMs()
  }
}
