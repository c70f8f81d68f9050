import type { Connection, SqlValue } from './connection.ts'
import type { CrossingPage, CrossingRecord, NameText, RecordFacts } from './messages.ts'
import { packedTexts, RowReader, unpackedTexts } from './row-reader.ts'
import { DamagedRow, TABLES, type Row } from './tables.ts'

const COUNT = 'SELECT count(*) FROM config_revision WHERE name_id = ? AND hidden = 0'

/** In the order of `RecordFacts`, as its rest. */
const PAGE_TEXTS = [
  'record.op',
  'record.src_ip',
  'record.src_user',
  'source.type',
  'source.app_name',
  'source.encrypted_data_key',
]

/** What is shown in place of a character that cannot be read. */
const UNREADABLE = '\ufffd'

// The page is cut from the index alone; only its own rows are then read, without their contents.
const PAGE = `
  SELECT record.id + 0, record.at_ms + 0, ${packedTexts(PAGE_TEXTS)}
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
  page: { pageNo: number; pageSize: number },
): CrossingPage {
  const totalCount = connection.number(COUNT, [nameId])
  const rows = connection.all(PAGE, [nameId, page.pageSize, (page.pageNo - 1) * page.pageSize])
  return { totalCount, rows: rows.map(factsOf) }
}

/** The record with this id, whosever it is. */
export function recordById(connection: Connection, id: number): CrossingRecord | undefined {
  return recordOf(connection, 'id = ? AND hidden = 0', [id])
}

/** The record of a name before the record `id`. */
export function recordBefore(connection: Connection, nameId: number, id: number): CrossingRecord | undefined {
  return recordOf(connection, 'name_id = ? AND hidden = 0 AND id < ? ORDER BY id DESC LIMIT 1', [nameId, id])
}

/** The newest update of the item `itemId`; the ids of its records are above its own. */
export function lastUpdateOf(
  connection: Connection,
  nameId: number,
  itemId: number,
): CrossingRecord | undefined {
  return recordOf(
    connection,
    "name_id = ? AND hidden = 0 AND id > ? AND op = 'U' AND item_id = ? ORDER BY id DESC LIMIT 1",
    [nameId, itemId, itemId],
  )
}

/**
 * A damaged text may hold the byte that stands between two, and which is which is not known then: none is told. The
 * others of the page are readable, and whoever reads the record itself is told that it is damaged.
 */
function factsOf([id, atMs, packed]: Row): RecordFacts {
  const texts = unpackedTexts(String(packed))
  const told = texts.length === PAGE_TEXTS.length ? texts : PAGE_TEXTS.map(() => UNREADABLE)
  return [id, atMs, ...told] as unknown as RecordFacts
}

/** The first record of a selection, whole: with the content that it answers and what belongs to that. */
function recordOf(connection: Connection, where: string, values: SqlValue[]): CrossingRecord | undefined {
  const found = revision(connection, where, values)
  if (found === undefined) return undefined
  const [id, nameId, , op, prevId, , , , , srcIp, srcUser, atMs] = found
  const source = op === 'I' ? found : revision(connection, 'id = ?', [prevId ?? null])
  const content = source?.at(-1)
  if (source === undefined || !Buffer.isBuffer(content)) {
    throw new DamagedRow('config_revision', String(id), 'the content that it answers is missing')
  }
  const [md5, type, appName, encryptedDataKey] = source.slice(5, 9)
  const facts = [id, atMs, op, srcIp, srcUser, type, appName, encryptedDataKey] as unknown as RecordFacts
  return { name: nameOf(connection, Number(nameId)), facts, md5: String(md5), content }
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
