import type { AuditEvent, AuditLimit, AuditSearch, FoundEvents } from '../audit/audit-event.ts'
import type { Change, FedChange } from '../decisions/changes.ts'
import type { ConfigItem, ConfigKey } from '../config/state/config-item.ts'
import type { HistoryEntry, HistoryPage, HistoryRecord } from '../config/state/history-record.ts'
import type { InstanceRecord } from '../naming/state/instance.ts'
import type { Service, ServiceKey } from '../naming/state/service.ts'
import type { Read } from '../decisions/reads.ts'
import type { StoredRecord } from '../records/record-kind.ts'
import type { Command } from '../decisions/decision.ts'
import type { Asker } from '../work/fair-queue.ts'

/** The store's number of a commit. It rises with every commit, also over restarts. */
export type Revision = number

/** Everything that a store holds when the server starts. */
export interface Snapshot {
  /** In the order in which they were created: searches answer in this order, after a restart as before it. */
  readonly configs: readonly ConfigItem[]
  readonly services: readonly Service[]
  readonly instances: readonly StoredInstance[]
  /** The small records of all kinds; within a kind in the order in which they were first saved. */
  readonly records: readonly StoredRecord[]
  /** The last commit that is in it. */
  readonly revision: Revision
  /** No stamp and no time that was given out before is later than this stamp (`Stamps`). */
  readonly largestStamp: number
  /** Absent: nothing is left out. */
  readonly leftOut?: LeftOut | undefined
}

/** An instance as last written. */
export interface StoredInstance {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly healthy: boolean
}

/** The changes of one command: they belong together and are decided again together. */
export type ChangeGroup = readonly Change[]

/**
 * The result of a commit. `committed`: its revision. `failed`: nothing was written, because of this one group. Its
 * caller gets the error; the other groups are decided and committed again.
 */
export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: Revision }
  | { readonly kind: 'failed'; readonly group: number; readonly error: Error }

/** A version of an item, by the record of its change. */
export interface VersionId {
  readonly key: ConfigKey
  readonly historyId: number
}

/**
 * The reads of one reader in the data that only the store has. Readers take turns, and no read delays a commit (decision 0069).
 * Each rejects with Refusal `too-many-reads` if too many wait already.
 */
export interface KeptReads {
  /** One page of the histories of these keys as one list, newest first. `pageNo` counts from 1. */
  history(keys: readonly ConfigKey[], page: { pageNo: number; pageSize: number }): Promise<HistoryPage>
  /**
   * The record with this id, of any item. `expected` is the item that it should belong to. With it, a store that can
   * find damage rejects where such a record was lost.
   */
  historyRecord(id: number, expected?: ConfigKey): Promise<HistoryRecord | undefined>
  /** Which of these records are there, of any items. */
  historyThere(ids: readonly number[]): Promise<readonly number[]>
  /** The record of this item before the record `id`. */
  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined>
  /** The entry of the record of this item that follows the record `id`. */
  historyAfter(key: ConfigKey, id: number): Promise<HistoryEntry | undefined>
  /** The newest record of this item that replaced a version (op U) since the item `itemId` was created. */
  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined>
  /** The users who made these versions, by history id; null: without a name. Versions without a record are left out. */
  authors(versions: readonly VersionId[]): Promise<ReadonlyMap<number, string | null>>
  /** At most `most` events that match, newest first. It looks at a bounded number of events (`FoundEvents`). */
  findAudit(search: AuditSearch, most: number): Promise<FoundEvents>
}

/** Where some of these reads are made. */
export interface ReadsOf<Method extends keyof KeptReads> {
  /**
   * The reads of a reader: a user, an address, or a part of the server. Readers are only compared. Reads whose caller has gone are
   * given up (`CallerGone`).
   */
  reads(reader: string | Asker): Pick<KeptReads, Method>
}

/**
 * The functions of every store besides its changes. A port uses the terms of the domain: the store decides how a change
 * becomes rows or keys.
 */
export interface KeptRecords extends ReadsOf<keyof KeptReads> {
  /**
   * Removes a bounded number of history records older than the limit, but never the newest `keep` of an item
   * that exists. Returns how many were removed and whether there are more.
   */
  cleanHistory(limit: {
    beforeMs: number
    keep: number
    most: number
  }): Promise<{ removed: number; more: boolean }>
  /**
   * Saves events of the audit; one with the id of a stored event replaces it. They are written without waiting for the
   * disk: a power cut may lose the last second, and never loses more.
   */
  saveAudit(events: readonly AuditEvent[]): Promise<void>
  /** Removes a bounded number of the oldest events beyond the limit. Returns how many were removed and whether there are more. */
  cleanAudit(limit: AuditLimit): Promise<{ removed: number; more: boolean }>
  /** Stores a small value of the server itself, such as the history clock. */
  remember(name: string, value: string): Promise<void>
  /** The value last passed to `remember`. */
  recall(name: string): Promise<string | undefined>
  /** Finishes pending work, writes everything and releases the data directory. */
  close(): Promise<void>
}

/**
 * The serials of services and instances in a store of one server. Some are written after they are applied: the engine
 * asks here, and decisions do not.
 */
export interface StoredSerials {
  /** Whether the store has it or may have it: then its removal must be written. */
  mayHave(serial: number): boolean
  /** Whether the store has it for certain, so that other writes may depend on it. */
  surelyHas(serial: number): boolean
}

/** Stores acknowledged changes for one server, which is alone on it: `embedded` uses one file of this machine. */
export interface Store extends KeptRecords, StoredSerials {
  /** Every record. Called once, before any other method. Throws if data cannot be read or has an unknown kind. */
  load(): Promise<Snapshot>
  /**
   * Writes all groups in order, or none. It modifies no change. When the promise resolves, they are on disk. Rejects
   * with Refusal `store-unavailable` if the store cannot write at all (disk full, I/O error); then no group is written.
   * `events` of the audit are written with them, as `saveAudit` does, or none of both.
   */
  commit(groups: readonly ChangeGroup[], events?: readonly AuditEvent[]): Promise<CommitResult>
}

/** The part of its store that the engine of one server needs. */
export type SoleEngineStore = Pick<Store, 'commit' | keyof StoredSerials>

/**
 * Commands with common reads or changes, decided one after the other. It is written completely or not at all. Without
 * changes the store only confirms the reads: so a negative answer is as certain as a positive one.
 */
export interface Unit {
  /** The reads of the decisions. */
  readonly reads: readonly Read[]
  readonly changes: readonly Change[]
}

/**
 * `held`: no read had changed; the changes are written, and the follower has applied them. `conflict`: a read had
 * changed; nothing is written, and the follower has applied the conflicting change. `failed`: it can never be written
 * (too large, invalid), and only its callers get the error. `unwritten`: the store could not be reached in time;
 * nothing was written and never will be, so it may be tried again. `refused`: it must not be tried again; the error
 * says if it is not known whether the unit was written.
 */
export type UnitResult =
  | { readonly kind: 'held' }
  | { readonly kind: 'conflict' }
  | { readonly kind: 'failed' | 'unwritten' | 'refused'; readonly error: Error }

/** A complete revision of a store that several servers share. */
export interface SharedCommit {
  readonly revision: Revision
  /** Only the last change of each thing. Things created and deleted within the revision are left out. */
  readonly changes: readonly FedChange[]
  /** The largest stamp of the revision, if the store knows it. Changes that are left out count too. */
  readonly stamp?: number
}

/** The newly loaded parts; undefined ones were not loaded. Services and instances belong together. */
export type Loaded = Pick<Snapshot, 'revision' | 'largestStamp'> & Partial<Snapshot>

/** Things that the store has and cannot read. They are not gone: a follower keeps the versions that it knows. */
export interface LeftOut {
  /** `ConfigKey.text` of items. */
  readonly items: ReadonlySet<string>
  /** `serviceKeyText` of services. */
  readonly services: ReadonlySet<string>
}

/** Follows a store that several servers share. Methods are synchronous: after the call the changes are applied. */
export interface StoreFollower {
  /** The next revision, of any server: each once, in order, without gaps. */
  applied(commit: SharedCommit): void
  /**
   * The store cannot continue from the last revision (compacted, restored): then this is everything, as it is now. Or a
   * part differed from the store: then it is this part at the revision that was applied last.
   */
  reloaded(loaded: Loaded): void
  /** Whether there is this service; absent: all that are needed are there. */
  hasService?(service: ServiceKey): boolean
  /** A record of history has this stamp, and no change that the feed has brought: later decisions have later ones. */
  saw?(stamp: number): void
}

/** A commit with less time than this (ms) is not begun: finding out about a lost answer needs a part of it. */
export const LEAST_COMMIT_MS = 600

/** Stores changes for several equal servers. Everything that is written reaches every server, in one order. */
export interface SharedStore extends KeptRecords {
  /** The most changes that one unit may have. */
  readonly mostChanges: number
  /** Every record there is, at one revision. Called once, before any other method. */
  load(): Promise<Snapshot>
  /** Feeds every revision after the loaded one to the follower. Called once. */
  follow(follower: StoreFollower): void
  /**
   * Writes each unit if nothing that it read has changed after the revision `decidedAt`. The ids of its history records
   * must also be larger than those of their items, because the clocks of servers differ. Units of one call are
   * independent: no unit changes a thing that another one changes or has read. Resolves with a result for each, once
   * the follower has applied every revision that the results depend on. It settles within this time (by default 2 s),
   * whatever the store does: it rejects with Refusal `store-unavailable` if no unit was written. If the answer of the
   * store was lost, it first finds out what has happened.
   */
  commit(units: readonly Unit[], decidedAt: Revision, withinMs?: number): Promise<readonly UnitResult[]>
  /**
   * How much longer (ms) a unit may take because the store writes large contents before it; 0: no longer than others. A
   * call of `commit` with such a unit alone may be underway while there are others. Absent: there are none.
   */
  beforehandMs?(unit: Unit): number
}

/**
 * Executes commands: decide, commit, apply, publish, answer. {@link SoleEngine} works on a store that no other server
 * uses, {@link SharedEngine} on one that several servers share.
 */
export interface Engine {
  /**
   * The most changes that a command should make. Work on more things is split into several commands: each fits into one
   * transaction of the store, and other commands run between them.
   */
  readonly mostAtOnce: number
  /** `behind`: records applied but not yet in the store. `waiting`: commands that wait for the next batch. */
  readonly backlog: { readonly behind: number; readonly waiting: number }
  /**
   * Executes a command and returns its outcome: at once, or as a promise if something must reach the store first.
   * Throws or rejects with Refusal.
   */
  execute<T>(command: Command<T>): T | Promise<T>
  /** Makes changes that no caller waits for: of silence, probes and cleaning. */
  applyBehind(changes: readonly Change[]): void
  /** Call this about ten times a second. */
  tick(): void
  /** Accepts no more commands. Resolves when all accepted ones are answered. */
  close(): Promise<void>
}
