import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { newestRevision } from '../rows/current-versions.ts'
import { REVISION_BYTES } from './history-size.ts'

const NEXT = `
  SELECT CAST(prev_id AS INTEGER) FROM config_revision WHERE name_id = ? AND hidden = 0 AND id > ? ORDER BY id LIMIT 1`

/** The revision with the current content of an item, hidden or not. */
const ITEM_REVISION = `SELECT ${newestRevision('config_item.name_id')} FROM config_item WHERE name_id = ?`

const GONE = 'FROM config_revision WHERE name_id = ? AND hidden = ? AND id <= ? AND id NOT IN (?, ?)'
const SIZE_OF_GONE = `SELECT ifnull(sum(${REVISION_BYTES} + ifnull(length(content), 0)), 0) ${GONE}`

/** The current revision of an item; undefined without an item. */
export function itemRevision(connection: SqliteConnection, nameId: number): number | undefined {
  const row = connection.first(ITEM_REVISION, [nameId])
  return row === undefined ? undefined : Number(row[0])
}

/** The freed bytes, and how many records history does not show any more. */
export interface ErasedRecords {
  readonly bytes: number
  readonly records: number
}

/**
 * Removes the records of a name up to `last`. Records whose content is still needed are hidden instead. The transaction is the
 * caller's.
 */
export function eraseRecords(connection: SqliteConnection, nameId: number, last: number): ErasedRecords {
  const next = connection.first(NEXT, [nameId, last])?.[0] ?? 0
  const carriers: SqlValue[] = [next, itemRevision(connection, nameId) ?? 0]
  let bytes = 0
  let records = 0
  for (const hidden of [0, 1]) {
    const values = [nameId, hidden, last, ...carriers]
    bytes += connection.number(SIZE_OF_GONE, values)
    const deleted = connection.run(`DELETE ${GONE}`, values)
    if (hidden === 0) records += deleted
  }
  records += connection.run(
    'UPDATE config_revision SET hidden = 1 WHERE name_id = ? AND hidden = 0 AND id <= ?',
    [nameId, last],
  )
  return { bytes, records }
}
