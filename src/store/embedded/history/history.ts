import { noteOfText } from '../rows/config-rows.ts'
import type { ConfigType } from '../../../core/config/state/config-item.ts'
import { DamagedRow, RowReader } from '../rows/row-reader.ts'
import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import type { CrossingEntry, CrossingRecord, NameText } from '../rows/messages.ts'
import { type RevisionRow, TABLES } from '../rows/tables.ts'

const REVISIONS = new RowReader(TABLES.config_revision)
const NAMES = new RowReader(TABLES.config_name)
const NAME = `SELECT ${NAMES.columns.join(', ')} FROM config_name WHERE id = ?`

/** Revisions without their contents. */
const RECORDS = new RowReader(TABLES.config_revision, { as: 'record', content: false })
/** SQLite knows the length of a content without reading it; a deletion has no content and no length. */
const RECORD_COLUMNS = [...RECORDS.columns, 'length(record.content) + 0'].join(', ')

/** The ids of the records of some names before an id, newest first: read from the index alone. */
const IDS_OF_NAME = 'SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 AND id < ?'
const NEXT_RECORD = 'record.name_id = ? AND record.hidden = 0 AND record.id > ? ORDER BY record.id LIMIT 1'
const THERE = `
  SELECT id FROM config_revision WHERE id IN (SELECT value FROM json_each(?)) AND hidden = 0`
const INDEXED = `
  SELECT 1 FROM config_revision INDEXED BY config_revision_by_name WHERE name_id = ? AND hidden = 0 AND id = ?`
const RECORD = `SELECT ${RECORD_COLUMNS} FROM config_revision AS record WHERE`

/** Skips this number of records of these names, newest first, from before an id. The id of the last one. */
export function skippedTo(
  connection: SqliteConnection,
  nameIds: readonly number[],
  { before, skipped }: { before: number; skipped: number },
): number | undefined {
  const row = connection.first(`${idsOf(nameIds)} LIMIT 1 OFFSET ?`, [
    ...nameIds.flatMap((nameId) => [nameId, before]),
    skipped - 1,
  ])
  return row === undefined ? undefined : Number(row[0])
}

/** The newest entries of these names before an id. Throws `DamagedRow`. */
export function entriesBefore(
  connection: SqliteConnection,
  nameIds: readonly number[],
  { before, most }: { before: number; most: number },
): { readonly nameId: number; readonly entry: CrossingEntry }[] {
  const page = `${idsOf(nameIds)} LIMIT ?`
  const sql = `${RECORD} record.id IN (${page}) ORDER BY record.id DESC`
  const values = nameIds.flatMap((nameId) => [nameId, before])
  const records = connection.all(sql, [...values, most]).map(sizedRow)
  const known = new Map(records.map((record) => [record.id, record]))
  return records.map((record) => ({ nameId: record.nameId, entry: listEntry(connection, record, known) }))
}

function idsOf(nameIds: readonly number[]): string {
  return `${nameIds.map(() => IDS_OF_NAME).join(' UNION ALL ')} ORDER BY id DESC`
}

/** The entry of the record of a name that follows the record `id`. */
export function entryAfter(
  connection: SqliteConnection,
  nameId: number,
  id: number,
): CrossingEntry | undefined {
  const row = connection.first(`${RECORD} ${NEXT_RECORD}`, [nameId, id])
  return row === undefined ? undefined : listEntry(connection, sizedRow(row))
}

/** The users of the records that exist. */
export function authorsOf(connection: SqliteConnection, ids: readonly number[]): [number, string | null][] {
  const some = 'record.id IN (SELECT value FROM json_each(?)) AND record.hidden = 0'
  const rows = connection.all(`${RECORD} ${some}`, [JSON.stringify(ids)])
  return rows.map(sizedRow).map(({ id, srcUser }) => [id, srcUser])
}

/** A list also shows a record if the revision that it answers is missing. `known`: records that were read already. */
function listEntry(
  connection: SqliteConnection,
  record: SizedRow,
  known?: ReadonlyMap<number, SizedRow>,
): CrossingEntry {
  if (record.op === 'I') return entryOf(record, record)
  const { prevId } = record
  return entryOf(record, known?.get(prevId ?? 0) ?? recordWithoutContent(connection, prevId))
}

/** A revision without its content, and how many bytes that has. */
interface SizedRow extends RevisionRow {
  readonly size: number
}

function sizedRow(row: readonly SqlValue[]): SizedRow {
  return { ...RECORDS.read(row), size: Number(row[RECORDS.columns.length] ?? 0) }
}

function recordWithoutContent(connection: SqliteConnection, id: number | null): SizedRow | undefined {
  const row = connection.first(`${RECORD} record.id = ?`, [id])
  return row === undefined ? undefined : sizedRow(row)
}

/** The record with this id, of any item. Throws `DamagedRow` also if only the index of the name `expected` has it. */
export function recordById(
  connection: SqliteConnection,
  id: number,
  expected?: number,
): CrossingRecord | undefined {
  const record = recordOf(connection, 'id = ? AND hidden = 0', [id])
  if (record === undefined && expected !== undefined && connection.first(INDEXED, [expected, id]))
    throw new DamagedRow('config_revision', String(id), 'the index has it, and the table does not')
  return record
}

/** The ids of the records that exist. */
export function recordsThere(connection: SqliteConnection, ids: readonly number[]): number[] {
  return connection.all(THERE, [JSON.stringify(ids)]).map(([id]) => Number(id))
}

/** The record of a name before the record `id`. */
export function recordBefore(
  connection: SqliteConnection,
  nameId: number,
  id: number,
): CrossingRecord | undefined {
  return recordOf(connection, 'name_id = ? AND hidden = 0 AND id < ? ORDER BY id DESC LIMIT 1', [nameId, id])
}

/** The newest update of the item `itemId`; the ids of its records are above its own. */
export function lastUpdateOf(
  connection: SqliteConnection,
  nameId: number,
  itemId: number,
): CrossingRecord | undefined {
  return recordOf(
    connection,
    "name_id = ? AND hidden = 0 AND id > ? AND op = 'U' AND item_id = ? ORDER BY id DESC LIMIT 1",
    [nameId, itemId, itemId],
  )
}

/** The list entry of a record. `source` is the revision whose content the record answers. */
function entryOf(record: RevisionRow, source: SizedRow | undefined): CrossingEntry {
  const { id, op, srcIp, srcUser, atMs } = record
  const { appName, encryptedDataKey, md5, size = 0 } = source ?? {}
  const type = source?.type as ConfigType
  return {
    id,
    op,
    md5: md5 ?? '',
    size,
    type,
    appName: appName ?? '',
    encryptedDataKey: encryptedDataKey ?? '',
    srcIp,
    srcUser,
    atMs,
    note: noteOfText(record.note),
  }
}

/** The first record of a selection, with the content that it answers and the fields of that content. */
function recordOf(
  connection: SqliteConnection,
  where: string,
  values: SqlValue[],
): CrossingRecord | undefined {
  const record = revision(connection, where, values)
  if (record === undefined) return undefined
  const source = record.op === 'I' ? record : revision(connection, 'id = ?', [record.prevId])
  if (source === undefined || source.content === null)
    throw new DamagedRow('config_revision', String(record.id), 'the content that it answers is missing')
  const { content } = source
  const entry = entryOf(record, { ...source, size: content.length })
  return { name: nameOf(connection, record.nameId), entry, content }
}

function revision(connection: SqliteConnection, where: string, values: SqlValue[]): RevisionRow | undefined {
  const read = connection.first(
    `SELECT ${REVISIONS.columns.join(', ')} FROM config_revision WHERE ${where}`,
    values,
  )
  return read === undefined ? undefined : REVISIONS.read(read)
}

function nameOf(connection: SqliteConnection, nameId: number): NameText {
  const read = connection.first(NAME, [nameId])
  if (read === undefined) throw new DamagedRow('config_name', String(nameId), 'it is missing')
  const { namespaceId, group, dataId } = NAMES.read(read)
  return [namespaceId, group, dataId]
}
