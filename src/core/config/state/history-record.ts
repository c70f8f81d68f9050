import type { ConfigKey, ConfigType } from './config-item.ts'
import type { ConfigNotes } from './config-notes.ts'
import type { HistoryNote } from './history-note.ts'

/** I: made, U: updated, D: deleted. */
export type HistoryOp = 'I' | 'U' | 'D'

/**
 * One change of one item. An insert holds its new text, an update the text BEFORE it, a
 * delete the deleted text (http-compat.md section 3). Its id comes from the same sequence as item ids.
 */
export interface HistoryRecord {
  readonly id: number
  readonly key: ConfigKey
  readonly op: HistoryOp
  readonly content: Buffer
  readonly md5: string
  readonly type: ConfigType
  readonly appName: string
  readonly encryptedDataKey: ConfigNotes['encryptedDataKey']
  readonly srcIp: string
  readonly srcUser: string | null
  /** Epoch milliseconds of the change. */
  readonly atMs: number
  readonly note?: HistoryNote | undefined
}

/** A record in a list: without its content. */
export interface HistoryEntry extends Omit<HistoryRecord, 'content'> {
  /** Bytes of the content. */
  readonly size: number
}

/** One page of the records of an item, newest first, and how many there are in all. */
export interface HistoryPage {
  readonly totalCount: number
  readonly entries: readonly HistoryEntry[]
}
