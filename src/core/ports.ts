import type { Change } from './changes.ts'
import type { ConfigItem, ConfigKey } from './config/config-item.ts'
import type { HistoryPage, HistoryRecord } from './config/history-record.ts'
import type { InstanceRecord } from './naming/instance.ts'
import type { Service, ServiceKey } from './naming/service.ts'
import type { StoredRecord } from './records/record-kind.ts'

/** The times that core works with. They are arguments: core has no clock. */
export interface Now {
  /** Epoch milliseconds, as shown in answers. */
  readonly wallMs: number
  /** Milliseconds of the health clock, for beats and expiry. */
  readonly healthMs: number
  /** The stamp of the changes that are decided now (`Stamps`). Every decision gets one of its own. */
  readonly stamp: number
}

/** The store's number of a commit. It rises with every commit, also over restarts. */
export type Revision = number

/** Everything that a store holds when the server starts. */
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

/** An instance as last written. */
export interface StoredInstance {
  readonly serviceKey: ServiceKey
  readonly record: InstanceRecord
  readonly healthy: boolean
}

/** The changes of one command: they belong together and are decided again together. */
export type ChangeGroup = readonly Change[]

/**
 * The result of a commit. `committed`: its revision. `failed`: nothing was written, because of this one group. Its caller
 * gets the error; the other groups are decided and committed again.
 */
export type CommitResult =
  | { readonly kind: 'committed'; readonly revision: Revision }
  | { readonly kind: 'failed'; readonly group: number; readonly error: Error }

/**
 * Stores acknowledged changes. `embedded` uses one file of this machine; another store may serve several machines. The port
 * uses the terms of the domain: how a change becomes rows is up to the store.
 */
export interface Store {
  /** Every record there is. Called once, before any other method. Throws when the data cannot be read, or has records of an unknown kind. */
  load(): Promise<Snapshot>
  /**
   * Writes all groups in order, or none. It modifies no change. When the promise resolves, they are on disk. Rejects with
   * Refusal `store-unavailable` if the store cannot write at all (disk full, I/O error); then no group is written.
   */
  commit(groups: readonly ChangeGroup[]): Promise<CommitResult>
  /** One page of an item's history, newest first. `pageNo` counts from 1. */
  history(key: ConfigKey, page: { pageNo: number; pageSize: number }): Promise<HistoryPage>
  /** The record with this id, of any item. */
  historyRecord(id: number): Promise<HistoryRecord | undefined>
  /** The record of this item before the record `id`. */
  historyBefore(key: ConfigKey, id: number): Promise<HistoryRecord | undefined>
  /** The newest record of this item that replaced a version (op U) since the item `itemId` was created. */
  lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined>
  /**
   * Removes a bounded number of history records older than the limit, but never the newest `keep` of an item
   * that exists. Returns how many were removed and whether there are more.
   */
  cleanHistory(limit: {
    beforeMs: number
    keep: number
    most: number
  }): Promise<{ removed: number; more: boolean }>
  /** Stores a small value of the server itself, such as the history clock. */
  remember(name: string, value: string): Promise<void>
  /** The value last passed to `remember`. */
  recall(name: string): Promise<string | undefined>
  /** Finishes pending work, writes everything and releases the data directory. */
  close(): Promise<void>
}
