import type { ConfigType } from '../../../core/config/state/config-item.ts'
import { DamagedRow, RowReader } from '../rows/row-reader.ts'
import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import type { CrossingEntry, CrossingPage, CrossingRecord, NameText } from '../rows/messages.ts'
import { type RevisionRow, TABLES } from '../rows/tables.ts'

const COUNT = 'SELECT count(*) FROM config_revision WHERE name_id = ? AND hidden = 0'

const REVISIONS = new RowReader(TABLES.config_revision)
const NAMES = new RowReader(TABLES.config_name)
const NAME = `SELECT ${NAMES.columns.join(', ')} FROM config_name WHERE id = ?`

/** Revisions without their contents. */
const RECORDS = new RowReader(TABLES.config_revision, { as: 'record', content: false })
/** SQLite knows the length of a content without reading it; a deletion has no content and no length. */
const RECORD_COLUMNS = [...RECORDS.columns, 'length(record.content) + 0'].join(', ')

// The page is cut from the index alone; only its own rows are then read.
const PAGE = `
  SELECT ${RECORD_COLUMNS}
  FROM (
    SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id DESC LIMIT ? OFFSET ?
  ) AS page
  JOIN config_revision AS record ON record.id = page.id
  ORDER BY record.id DESC`
const THERE = `
  SELECT id FROM config_revision WHERE id IN (SELECT value FROM json_each(?)) AND hidden = 0`
const INDEXED = `
  SELECT 1 FROM config_revision INDEXED BY config_revision_by_name WHERE name_id = ? AND hidden = 0 AND id = ?`
const ONE_RECORD = `SELECT ${RECORD_COLUMNS} FROM config_revision AS record WHERE record.id = ?`

/** One page of the records of a name, newest first, and how many it has. Throws `DamagedRow`. */
export function historyPage(
  connection: SqliteConnection,
  nameId: number,
  page: { pageNo: number; pageSize: number },
): CrossingPage {
  const totalCount = connection.number(COUNT, [nameId])
  const rows = connection.all(PAGE, [nameId, page.pageSize, (page.pageNo - 1) * page.pageSize])
  const records = rows.map(sizedRow)
  const known = new Map(records.map((record) => [record.id, record]))
  const sourceOf = ({ prevId }: SizedRow) =>
    known.get(prevId ?? 0) ?? recordWithoutContent(connection, prevId)
  // The list also shows a record if the revision that it answers is missing.
  const entries = records.map((record) => entryOf(record, record.op === 'I' ? record : sourceOf(record)))
  return { totalCount, entries }
}

/** A revision without its content, and how many bytes that has. */
interface SizedRow extends RevisionRow {
  readonly size: number
}

function sizedRow(row: readonly SqlValue[]): SizedRow {
  return { ...RECORDS.read(row), size: Number(row[RECORDS.columns.length] ?? 0) }
}

function recordWithoutContent(connection: SqliteConnection, id: number | null): SizedRow | undefined {
  const row = connection.first(ONE_RECORD, [id])
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
