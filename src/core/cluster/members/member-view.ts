import type { MemberFacts } from './member-records.ts'
import type { ServerFigures } from './server-figures.ts'
import type { KnownServer } from './server-records.ts'

/** Another server, as one knows it. */
export interface HeardMember {
  readonly id: string
  /** Whether it replied when it was last asked. */
  readonly replies: boolean
  /** The time since its last answer to any server; undefined: nobody remembers an answer. */
  readonly agoMs: number | undefined
}

/** The report of a server on its part in the cluster. Its times are durations, so no clocks are compared. */
export interface MemberView {
  /** Since it was started. */
  readonly upMs: number
  /** How long the others certainly count it as a member, unless it renews its lease; 0: they need not. */
  readonly leaseMs: number
  /** `member`, `alone`, or `down-for-all`. */
  readonly standing: string
  /** The layout in which the data is written. */
  readonly layout: number
  /** The last revision of the store that it has applied, and the newest one that it knows of. */
  readonly revision: number
  readonly newestRevision: number
  /** The greatest age of its knowledge of the store. */
  readonly lagMs: number
  /** How often it has loaded everything again since its start. */
  readonly reloads: number
  /** How many services it judges, with how many instances. */
  readonly judgedServices: number
  readonly judgedInstances: number
  /** The other members. */
  readonly hears: readonly HeardMember[]
  readonly figures: ServerFigures
}

/** A server of the installation, as the one that is asked knows it. */
export interface ClusterMember extends KnownServer {
  readonly id: string
  /** The facts in its key; undefined: it is away. */
  readonly facts: MemberFacts | undefined
  /** Since when it is there or away, as this server has seen it, ms; undefined: since before this server was started. */
  readonly forMs: number | undefined
  /** How far its clock is ahead of most servers, ms; negative: behind. Undefined: it did not answer lately. */
  readonly clockAheadMs: number | undefined
  readonly isSelf: boolean
  readonly isElected: boolean
  /** Its report; undefined: it is away, or does not answer. */
  readonly view: Omit<MemberView, 'figures'> | undefined
  /** Its measurements; undefined if `view` is. */
  readonly figures: ServerFigures | undefined
}
