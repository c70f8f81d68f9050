import type { WrittenTrail } from '../../audit/written-trail.ts'
import type { ClusterMember } from '../../core/cluster/members/member-view.ts'
import type { Engine, KeptRecords, Snapshot } from '../../core/engine/ports.ts'
import type { Follower } from '../../core/engine/follower.ts'
import type { HealthClock } from '../../core/naming/liveness/health-clock.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { Liveness } from '../../core/naming/liveness/liveness.ts'
import type { Room } from '../../core/engine/store-room.ts'
import type { Stamps, Now } from '../../core/decisions/stamps.ts'
import type { State } from '../../core/engine/state.ts'
import type { Metric } from '../../metrics/metric.ts'
import type { Lagging, Lasting, StoreFault } from '../../metrics/readiness.ts'
import type { Observability } from './observability.ts'
import type { OwnViews } from '../../core/clients/client-views.ts'
import type { ClientViews } from '../../operations/client-views.ts'
import type { LeaderView, Member } from '../../operations/server/operator.ts'
import type { LocalFile } from '../../store/local-file.ts'
import type { AuthenticationMode } from './authentication-mode.ts'

/** The dependencies of an engine. */
export interface EngineParts {
  readonly follower: Follower
  readonly stamps: Stamps
  readonly clock: () => Now
  readonly watch: Observability
  /** Events of the audit, which may be written with commits. */
  readonly trail: Pick<WrittenTrail, 'along'>
  /** Called when the state was loaded again: the changes in between are unknown. */
  readonly onReload: () => void
}

/** The dependencies of the list of servers. */
export interface MembersParts {
  readonly state: State
  readonly engine: Engine
  readonly watch: Observability
}

/** The dependencies of the care for instances. */
export interface CareParts {
  readonly state: State
  readonly liveness: Liveness
  readonly engine: Engine
  readonly healthClock: HealthClock
  readonly clock: () => Now
  /** Whether a process is this one, or belongs to a live server. */
  readonly isAlive: (process: string) => boolean
  readonly watch: Observability
}

/** Applies the changes of time to naming. */
export interface Care {
  /** Whether this server judges the instances of a service, which changes with the servers; absent: it judges all. */
  readonly judges?: (key: ServiceKey) => boolean
  /** Judges instances that are silent. Call it every `SWEEP_MS`. */
  sweep(): void
  /** Removes services that have been empty for long. Call it about once a second. */
  expireServices(): Promise<void>
  /** Forgets metadata of instances that have been away for long. */
  forgetMetadata(): Promise<void>
}

/** The time between two heartbeats of the leader query, ms. */
export const HEARTBEAT_MS = 5_000

/** The servers of an installation, as operators see them. */
export interface Members {
  list(): readonly Member[]
  /** The same servers, each with its own report. */
  cluster(): Promise<readonly ClusterMember[]>
  leader(): LeaderView
  /** The port that this server listens on. */
  listensOn(port: number): void
  /** Looks at the servers again. Call it as often as the switch serverStatusSynchronizationPeriodMillis says. */
  refresh(): void
  /** Call it every `HEARTBEAT_MS`. */
  heartbeat(): void
}

/**
 * The store of a server, and whether the server is alone on it. `SoleInstallation`: a directory of this machine.
 * `SharedInstallation`: a store that it shares with equal servers. Everything else of a server is the same.
 */
export interface Installation {
  readonly store: KeptRecords
  /** A unique name for this process. */
  readonly process: string
  readonly snapshot: Snapshot
  /** The file of the data; undefined if they are in no file of this machine. */
  readonly file: LocalFile | undefined
  /** Names the origin of the store's revisions, if other servers have the same revisions. */
  readonly sharedOrigin: string | undefined
  /** See `FollowerOptions.lastRefAheadMs`. */
  readonly lastRefAheadMs: number
  /** The age of this server's knowledge of the store; 0 if nobody else changes it. */
  lagMs(): number
  /** Why this server alone is cut off from the store; undefined for a server that is alone anyway. */
  readonly cutOff: (() => Lasting | undefined) | undefined
  /** That this server receives the changes of others late; undefined for a server that is alone anyway. */
  readonly lagging: (() => Lagging | undefined) | undefined
  /** The faults of the store that an operator must mend; undefined for a server that is alone on it. */
  readonly storeFaults: (() => readonly StoreFault[]) | undefined
  /** Resolves with the cause that ends this server: it must stop. */
  readonly ended: Promise<Error>
  /** Makes the engine, and begins to follow the store. Called once. */
  engineOn(parts: EngineParts): Engine
  /** The list of the servers. Called once. */
  membersOf(parts: MembersParts): Promise<Members>
  /** The views of all servers on their clients. Called once. */
  viewsOf(own: OwnViews): ClientViews
  /** Called once. */
  careOf(parts: CareParts): Care
  /** Checks the standing of this server. Call it about twice a second. */
  look(): Promise<void>
  /** The room of the store beyond its reserve; undefined: unknown. Called about once a second; `isUrgent`: now. */
  measureRoom(isUrgent: boolean): Promise<Room | undefined>
  /** The files of the store; of several, the largest. Undefined or an error: unknown now. */
  storeBytes(): Promise<number | undefined>
  /** Compares this server's data with the store, and loads differing data again. Call it about once a minute. */
  compare(): Promise<void>
  /** Removes leftovers in the store. The elected server calls it about once a minute. */
  clean(): Promise<void>
  /** The metrics of the store and of the other servers. */
  metrics(): Metric[]
  /** Whether this server is certainly a member, so that its writes count. */
  isMember(): boolean
  /** Whether this server does the common work of the servers: cleaning. */
  isElected(): boolean
  /** Becomes a member, just before clients reach it. Rejects with an Error that explains why it may not. */
  enter(mode: AuthenticationMode): Promise<void>
  /**
   * Gives up membership: the others take over its common work at once. It still finishes its requests. Call it after its
   * connected clients have left.
   */
  handOver(): Promise<void>
  /** Gives up membership, and closes the store. */
  leave(): Promise<void>
}
