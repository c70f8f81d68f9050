import type { HistoryEntry, HistoryOp, HistoryRecord } from '../../core/config/history-record.ts'
import { configKey, type ConfigType } from '../../core/config/config-item.ts'
import type { Connection, SqlValue } from './connection.ts'
import type { NameText } from './messages.ts'
import { readable, readValue, RowReader } from './row-reader.ts'
import { DamagedRow, TABLES, type Row } from './tables.ts'

const COUNT = 'SELECT count(*) FROM config_revision WHERE name_id = ? AND hidden = 0'

const PAGE_COLUMNS = [
  'record.id',
  'record.op',
  'record.src_ip',
  'record.src_user',
  'record.at_ms',
  'source.type',
  'source.app_name',
  'source.encrypted_data_key',
]

// The page is cut from the index alone; only its own rows are then read, without their contents.
const PAGE = `
  SELECT ${PAGE_COLUMNS.map(readable).join(', ')}
  FROM (
    SELECT id FROM config_revision WHERE name_id = ? AND hidden = 0 ORDER BY id DESC LIMIT ? OFFSET ?
  ) AS page
  JOIN config_revision AS record ON record.id = page.id
  LEFT JOIN config_revision AS source ON source.id = iif(record.op = 'I', record.id, record.prev_id)
  ORDER BY record.id DESC`

const REVISIONS = new RowReader(TABLES.config_revision)
const NAMES = new RowReader(TABLES.config_name)
const NAME = `SELECT ${NAMES.columns.join(', ')} FROM config_name WHERE id = ?`

/** One page of the records of a name, newest first, and how many it has. */
export function historyPage(
  connection: Connection,
  nameId: number,
  page: { name: NameText; pageNo: number; pageSize: number },
): { totalCount: number; entries: HistoryEntry[] } {
  const totalCount = connection.number(COUNT, [nameId])
  const rows = connection.all(PAGE, [nameId, page.pageSize, (page.pageNo - 1) * page.pageSize])
  return { totalCount, entries: rows.map((row) => entryOf(page.name, row.map(readValue))) }
}

/** The record with this id, whosever it is. */
export function recordById(connection: Connection, id: number): HistoryRecord | undefined {
  return recordOf(connection, 'id = ? AND hidden = 0', [id])
}

/** The record of a name before the record `id`. */
export function recordBefore(connection: Connection, nameId: number, id: number): HistoryRecord | undefined {
  return recordOf(connection, 'name_id = ? AND hidden = 0 AND id < ? ORDER BY id DESC LIMIT 1', [nameId, id])
}

/** The newest update of the item `itemId`; the ids of its records are above its own. */
export function lastUpdateOf(
  connection: Connection,
  nameId: number,
  itemId: number,
): HistoryRecord | undefined {
  return recordOf(
    connection,
    "name_id = ? AND hidden = 0 AND id > ? AND op = 'U' AND item_id = ? ORDER BY id DESC LIMIT 1",
    [nameId, itemId, itemId],
  )
}

function entryOf(name: NameText, row: Row): HistoryEntry {
  const [id, op, srcIp, srcUser, atMs, type, appName, encryptedDataKey] = row
  const [namespaceId, group, dataId] = name
  return {
    id: Number(id),
    key: configKey(namespaceId, group, dataId),
    op: op as HistoryOp,
    type: type as ConfigType,
    appName: String(appName ?? ''),
    encryptedDataKey: String(encryptedDataKey ?? ''),
    srcIp: String(srcIp),
    srcUser: srcUser as string | null,
    atMs: Number(atMs),
  }
}

/** The first record of a selection, whole: with the content that it answers and what belongs to that. */
function recordOf(connection: Connection, where: string, values: SqlValue[]): HistoryRecord | undefined {
  const found = revision(connection, where, values)
  if (found === undefined) return undefined
  const [id, nameId, , op, prevId, , , , , srcIp, srcUser, atMs] = found
  const source = op === 'I' ? found : revision(connection, 'id = ?', [prevId ?? null])
  const content = source?.at(-1)
  if (source === undefined || !Buffer.isBuffer(content)) {
    throw new DamagedRow('config_revision', String(id), 'the content that it answers is missing')
  }
  const [md5, type, appName, encryptedDataKey] = source.slice(5, 9)
  const facts = [id, op, srcIp, srcUser, atMs, type, appName, encryptedDataKey]
  const name = nameOf(connection, Number(nameId))
  const entry = entryOf(
    name,
    facts.map((value) => value ?? null),
  )
  return { ...entry, content, md5: String(md5) }
}

function revision(connection: Connection, where: string, values: SqlValue[]): Row | undefined {
  const read = connection.first(
    `SELECT ${REVISIONS.columns.join(', ')} FROM config_revision WHERE ${where}`,
    values,
  )
  return read === undefined ? undefined : REVISIONS.read(read)
}

function nameOf(connection: Connection, nameId: number): NameText {
  const read = connection.first(NAME, [nameId])
  if (read === undefined) throw new DamagedRow('config_name', String(nameId), 'it is missing')
  const [, namespaceId, group, dataId] = NAMES.read(read)
  return [String(namespaceId), String(group), String(dataId)]
}
