import type { Change } from './changes.ts'
import type { ConfigItem, ConfigKey } from './config/config-item.ts'
import type { HistoryPage, HistoryRecord } from './config/history-record.ts'
import type { InstanceRecord } from './naming/instance.ts'
import type { Service, ServiceKey } from './naming/service.ts'
import type { StoredRecord } from './records/record-kind.ts'

/** The times that core works with; they arrive as arguments. */
export interface Now {
  /** Epoch milliseconds: what people and answers see. */
  readonly wallMs: number
  /** Milliseconds on the health clock: what beats and expiry are judged by. */
  readonly healthMs: number
  /** The stamp of the changes that are decided now (`Stamps`). Every decision gets one of its own. */
  readonly stamp: number
}

/** The store's number of a commit. It rises with every commit, also over restarts. */
export type Revision = number

/** Everything that a store knows when the server starts. */
export interface Snapshot {
  readonly configs: readonly ConfigItem[]
  readonly services: readonly Service[]
  readonly instances: readonly StoredInstance[]
  /** The small records of all kinds; those of a kind in the order in which they were first saved. */
  readonly records: readonly StoredRecord[]
  /** The last commit that is in it. */
  readonly revision: Revision
  /** No stamp and no time that was given out before is later than this stamp (`Stamps`). */
  readonly largestStamp: number
}

/** An instance as it was last written. */
export interface StoredInstance {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly healthy: boolean
}

/** The changes of one command: they belong together and are decided again together. */
export type ChangeGroup = readonly Change[]

/**
 * What a commit came to: its revision, or what failed. `failed` names the one group that cannot be written (nothing of the batch is): the
 * caller of that group gets the error, the others are decided and committed again without it.
 */
export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: Revision }
  | { readonly kind: 'failed'; readonly group: number; readonly error: Error }

/**
 * Where acknowledged changes are kept. `embedded` keeps them in one file of this machine; another store may
 * keep them for several machines. The port speaks of the domain: how a change becomes rows is the store's.
 */
export interface Store {
  /** Every record there is. Called once, before any other method. Throws when the data cannot be read, or has records of an unknown kind. */
  load(): Promise<Snapshot>
  /**
   * Writes all groups or nothing, in order. It modifies no change. They have reached the disk when the promise
   * resolves. Rejects with Refusal `store-unavailable` when the store as a
   * whole cannot write (disk full, I/O error); nothing of the batch is kept then.
   */
  commit(groups: readonly ChangeGroup[]): Promise<CommitResult>
  /** One page of an item's history, newest first. `pageNo` counts from 1. */
  history(key: ConfigKey, page: { pageNo: number; pageSize: number }): Promise<HistoryPage>
  /** The record with this id, of any item. */
  historyRecord(id: number): Promise<HistoryRecord | undefined>
  /** The record of this item before the record `id`. */
  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined>
  /** The newest record of this item that replaced a version (op U) since the item `itemId` was made. */
  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined>
  /**
   * Removes a bounded number of history records older than the limit, but never the newest `keep` of an item
   * that exists. Answers how many went and whether there is more to do.
   */
  cleanHistory(limit: {
    beforeMs: number
    keep: number
    most: number
  }): Promise<{ removed: number; more: boolean }>
  /** A small value of the server's own that outlives restarts (e.g. the history clock). */
  remember(name: string, value: string): Promise<void>
  /** The value last given to `remember`. */
  recall(name: string): Promise<string | undefined>
  /** Finishes what was begun, writes everything and lets the data directory go. */
  close(): Promise<void>
}
