import type { AuditLimit, AuditSearch, FoundEvents } from '../../../core/audit/audit-event.ts'
import type { HeldFile, PlaceProblem } from '../../local-file.ts'
import type { HistoryEntry } from '../../../core/config/state/history-record.ts'
import type { Values } from './table.ts'

/** The key of a configuration item: namespaceId, group, dataId. */
export type NameText = readonly [namespaceId: string, group: string, dataId: string]

/**
 * One write of a commit, as the worker gets it. Rows are sent as values (`Table.encode`), because objects take several
 * times as long. The values of a revision and an item have no name number and no content yet. `item` is undefined if the
 * item's row stays as it is. The content is `contentLength` bytes at `contentAt` of the batch's contents.
 * `previousLength` and `deletedLength` are the bytes of the content that becomes history. An `instance` without health
 * keeps its health.
 */
export type Write =
  | readonly [
      write: 'published',
      name: NameText,
      revision: Values,
      item: Values | undefined,
      contentAt: number,
      contentLength: number,
      previousLength: number,
    ]
  | readonly [write: 'recorded', name: NameText, revision: Values, contentAt: number, contentLength: number]
  | readonly [write: 'deleted', name: NameText, revision: Values, deletedLength: number]
  | readonly [write: 'put', table: PutTable, row: Values]
  | readonly [write: 'drop', table: PutTable, key: Values]
  | readonly [
      write: 'instance',
      serial: number,
      serviceSerial: number,
      healthy: boolean | undefined,
      record: string,
    ]
  | readonly [write: 'instance-health', serial: number, healthy: boolean]
  | readonly [write: 'instance-gone', serial: number]

/** The tables whose rows are written and deleted whole. */
export type PutTable = 'service' | 'record'

/** A commit as it goes to the worker. */
export interface CommitBatch {
  /** The writes of all groups, in order. */
  readonly writes: readonly Write[]
  /** Where in `writes` each group ends. */
  readonly ends: readonly number[]
  readonly contents: ArrayBuffer
  /** Rows of the audit. */
  readonly events: readonly Values[]
  /** The revision that it becomes: no stamp of its changes is larger. */
  readonly revision: number
}

/** The result of a commit, as the worker sends it. */
export type CommitOutcome = { readonly failedGroup: number; readonly error: string } | undefined

/** The values of the rows of an item, and where its content is in the contents of the batch. */
export type CrossingItem = readonly [
  name: Values,
  item: Values,
  revision: Values,
  contentAt: number,
  contentLength: number,
]

/** A part of the data that `load` reads. */
export type LoadBatch =
  | { readonly kind: 'configs'; readonly items: readonly CrossingItem[]; readonly contents: ArrayBuffer }
  | {
      readonly kind: 'records' | 'services' | 'instances'
      readonly rows: readonly Values[]
    }
  | {
      readonly kind: 'settled'
      /** How many instances were removed because their service is gone. */
      readonly orphans: number
    }

/** An entry of a list of history as it crosses. */
export type CrossingEntry = Omit<HistoryEntry, 'key'>

/** A history record as it crosses: structured cloning turns its Buffer into a Uint8Array. */
export interface CrossingRecord {
  readonly name: NameText
  readonly entry: CrossingEntry
  readonly content: Uint8Array
}

/** An entry of the histories of some names as it crosses. `of`: the place of its name among them. */
export interface CrossingPlace {
  readonly of: number
  readonly entry: CrossingEntry
}

/** How much `cleanHistory` may take (see the port). */
export interface CleanLimit {
  readonly beforeMs: number
  readonly keep: number
  readonly most: number
}

/** The requests to the worker: method, arguments and answer. */
export interface Methods {
  commit(batch: CommitBatch): CommitOutcome
  /** The number of records of a name. Undefined: a call counts one piece, so call again. */
  historyTotal(name: NameText): number | undefined
  /** Skips records of these names, newest first, from before the id `before`. The id of the last one. */
  historySkip(names: readonly NameText[], before: number, skipped: number): number | undefined
  /** The newest entries of these names before the id `before`. */
  historyEntries(names: readonly NameText[], before: number, most: number): readonly CrossingPlace[]
  historyRecord(id: number, expected?: NameText): CrossingRecord | undefined
  historyThere(ids: readonly number[]): readonly number[]
  historyBefore(name: NameText, id: number): CrossingRecord | undefined
  historyAfter(name: NameText, id: number): CrossingEntry | undefined
  authors(ids: readonly number[]): readonly (readonly [id: number, user: string | null])[]
  lastUpdate(name: NameText, itemId: number): CrossingRecord | undefined
  cleanHistory(limit: CleanLimit): { removed: number; more: boolean }
  saveAudit(events: readonly Values[]): void
  findAudit(search: AuditSearch, most: number): FoundEvents
  cleanAudit(limit: AuditLimit): { removed: number; more: boolean }
  remember(name: string, value: string): void
  recall(name: string): string | undefined
  holdFile(): HeldFile
  releaseFile(): boolean
  close(): void
}

/** A question to the worker. `load` answers with batches before its reply. */
export interface WorkerRequest {
  readonly id: number
  readonly method: keyof Methods | 'load'
  readonly args: readonly unknown[]
}

/** An error as it crosses. `storeWide`: the whole store failed; `reopen`: the worker must be replaced. */
export interface CrossingError {
  readonly message: string
  readonly storeWide: boolean
  readonly reopen: boolean
  readonly problem: PlaceProblem | undefined
}

/** Messages from the worker. `opened` comes first, or `unopened` and then the end. */
export type FromWorker =
  | { readonly kind: 'opened'; readonly lastRevision: number }
  | { readonly kind: 'unopened'; readonly message: string; readonly problem: PlaceProblem | undefined }
  | { readonly kind: 'batch'; readonly id: number; readonly batch: LoadBatch }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: CrossingError }
  | { readonly kind: 'warning'; readonly facts: object; readonly text: string }
