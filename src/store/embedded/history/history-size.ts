import type { SqliteConnection } from '../database/connection.ts'
import { newestRevision } from '../rows/current-versions.ts'
import { readMeta, writeMeta } from '../rows/meta.ts'

/** Estimated bytes of a revision besides its content: its other columns, and its entry in the index. */
export const REVISION_BYTES = 256

const BYTES = `${REVISION_BYTES} + ifnull(length(content), 0)`
const MOST_REMEMBERED = 50_000

const ALL = `SELECT ifnull(sum(${BYTES}), 0) FROM config_revision`
const CURRENT = `
  SELECT ifnull(sum(${BYTES}), 0) FROM config_item
  JOIN config_revision ON config_revision.id = ${newestRevision('config_item.name_id')}`
const OF_NAME = `SELECT ifnull(sum(${BYTES}), 0) FROM config_revision WHERE name_id = ? AND hidden IN (0, 1)`
const CURRENT_OF_NAME = `${CURRENT} WHERE config_item.name_id = ?`

/**
 * The bytes of history: every revision that is not the current version of an item. The sum is in `meta`, so a start counts
 * nothing. A file without it (a new one, or a copy) is counted once.
 */
export class HistorySize {
  readonly #connection: SqliteConnection
  readonly #ofNames = new Map<number, number>()
  #total: number
  #written: number

  constructor(connection: SqliteConnection) {
    this.#connection = connection
    const stored = readMeta(connection, 'history_bytes')
    this.#total = stored === undefined ? connection.number(ALL) - connection.number(CURRENT) : Number(stored)
    this.#written = stored === undefined ? -1 : this.#total
  }

  /** The bytes of all items. */
  get total(): number {
    return this.#total
  }

  /** The bytes of one item. They are counted once, with its changes so far, and remembered. */
  of(nameId: number): number {
    const known = this.#ofNames.get(nameId)
    if (known !== undefined) return known
    const bytes =
      this.#connection.number(OF_NAME, [nameId]) - this.#connection.number(CURRENT_OF_NAME, [nameId])
    if (this.#ofNames.size >= MOST_REMEMBERED) this.#ofNames.clear()
    this.#ofNames.set(nameId, bytes)
    return bytes
  }

  /** History of an item has become larger, or smaller, by this. */
  change(nameId: number, bytes: number): void {
    this.#total += bytes
    const known = this.#ofNames.get(nameId)
    if (known !== undefined) this.#ofNames.set(nameId, known + bytes)
  }

  /** Writes the sum, if it has changed; the transaction is the caller's. */
  write(): void {
    if (this.#total === this.#written) return
    writeMeta(this.#connection, 'history_bytes', String(this.#total))
    this.#written = this.#total
  }

  /** A transaction that began with this total was taken back. */
  undo(total: number): void {
    this.#total = total
    this.#written = -1
    this.#ofNames.clear()
  }
}
