import { DamagedRow, RowReader } from '../rows/row-reader.ts'
import type { SqliteConnection, SqlValue } from '../database/connection.ts'
import { ContentPack } from '../rows/content-pack.ts'
import { LostVersions, newestRevision, readVersionSums, VersionSums } from '../rows/current-versions.ts'
import { checkTotals, removeOrphans } from '../rows/instance-totals.ts'
import type { CrossingItem, LoadBatch } from '../rows/messages.ts'
import type { Table, Values } from '../rows/table.ts'
import { type ItemRow, type RevisionRow, TABLES } from '../rows/tables.ts'

const ROWS_PER_BATCH = 2_000

/** Contents of a batch share one buffer, kept while one content is in use. So it is small; a large content has its own. */
const CONTENT_PER_BATCH = 256 * 1024

/** Characters of a batch. Schemas, metadata and the texts of gray versions are large, and two threads have a batch at a time. */
const TEXT_PER_BATCH = 2 * 1024 * 1024

const NAMES = new RowReader(TABLES.config_name)
const ITEMS = new RowReader(TABLES.config_item)
const REVISIONS = new RowReader(TABLES.config_revision)

/** As `readBatches`. Instances of services that are gone are removed. */
export function* loadBatches(connection: SqliteConnection): Generator<LoadBatch> {
  yield* readBatches(connection)
  yield {
    kind: 'settled',
    orphans: removeOrphans(connection),
  }
}

/**
 * The data that a server needs to start, in batches, without history. Every row is checked, and nothing is written. Throws
 * `DamagedRow`, `LostVersions` and `LostInstances`.
 */
export function* readBatches(connection: SqliteConnection): Generator<LoadBatch> {
  yield* configBatches(connection)
  yield* plainBatches(connection, { kind: 'records', table: TABLES.record, rowsOf: recordRows })
  yield* plainBatches(connection, { kind: 'services', table: TABLES.service })
  yield* plainBatches(connection, { kind: 'instances', table: TABLES.instance })
  checkTotals(connection)
}

function* configBatches(connection: SqliteConnection): Generator<LoadBatch> {
  let items: CrossingItem[] = []
  let size = 0
  let pack = new ContentPack()
  const found = new VersionSums()
  for (const read of connection.each(configQuery())) {
    const { nameId, revisionId, rows, content } = checkedItem(read)
    found.move(nameId, 0, revisionId)
    const isFull =
      items.length >= ROWS_PER_BATCH ||
      size > TEXT_PER_BATCH ||
      pack.length + content.length > CONTENT_PER_BATCH
    if (isFull && items.length > 0) {
      yield { kind: 'configs', items, contents: pack.pack() }
      items = []
      size = 0
      pack = new ContentPack()
    }
    for (const values of rows) size += textsIn(values)
    items.push([...rows, pack.add(content), content.length])
  }
  if (items.length > 0) yield { kind: 'configs', items, contents: pack.pack() }
  if (!found.equals(readVersionSums(connection))) throw new LostVersions()
}

function configQuery(): string {
  const columns = [NAMES, ITEMS, REVISIONS].flatMap((reader) => reader.columns)
  return `SELECT ${columns.join(', ')} FROM config_item
    LEFT JOIN config_name ON config_name.id = config_item.name_id
    LEFT JOIN config_revision ON config_revision.id = ${newestRevision('config_item.name_id')}
    ORDER BY config_item.name_id`
}

/** Name, item and newest revision of one item, each checked; `rows` are their values without the content. */
function checkedItem(read: readonly SqlValue[]) {
  const itemAt = NAMES.columns.length
  const revisionAt = itemAt + ITEMS.columns.length
  const itemValues = ITEMS.values(read, itemAt)
  const item = TABLES.config_item.decode(itemValues)
  if (read[0] === null) throw damagedItem(item, 'its name is missing')
  if (read[revisionAt] === null) throw damagedItem(item, 'its content is missing')
  const name = NAMES.values(read)
  const revisionValues = REVISIONS.values(read, revisionAt)
  const revision = TABLES.config_revision.decode(revisionValues)
  checkBelongs(item, revision)
  const { content } = revision
  if (content === null) throw new DamagedRow('config_revision', String(revision.id), 'it has no content')
  const rows = [name, itemValues, revisionValues.with(-1, null)] as const
  return { nameId: item.nameId, revisionId: revision.id, rows, content }
}

/** The newest revision found for an item must belong to this item, and must not be older than the item's row. */
function checkBelongs(item: ItemRow, { id, nameId, itemId }: RevisionRow): void {
  if (item.nameId === nameId && item.id === itemId && id >= item.revisionId) return
  throw damagedItem(
    item,
    `the newest version found for it, ${id}, is not one of its own or older than the row`,
  )
}

function damagedItem({ nameId }: ItemRow, problem: string): DamagedRow {
  return new DamagedRow('config_item', String(nameId), problem)
}

/** Reads the rows of a table in their order. */
type Rows = (connection: SqliteConnection, select: string) => Iterable<SqlValue[]>

interface ReadTable<R> {
  readonly kind: 'records' | 'services' | 'instances'
  readonly table: Table<R>
  readonly rowsOf?: Rows
}

function* plainBatches<R>(
  connection: SqliteConnection,
  { kind, table, rowsOf = allRows }: ReadTable<R>,
): Generator<LoadBatch> {
  const reader = new RowReader(table)
  let rows: Values[] = []
  let size = 0
  for (const read of rowsOf(connection, `SELECT ${reader.columns.join(', ')} FROM ${table.name}`)) {
    const values = reader.values(read)
    rows.push(values)
    size += textsIn(values)
    if (rows.length < ROWS_PER_BATCH && size < TEXT_PER_BATCH) continue
    yield { kind, rows }
    rows = []
    size = 0
  }
  if (rows.length > 0) yield { kind, rows }
}

function allRows(connection: SqliteConnection, select: string): Iterable<SqlValue[]> {
  return connection.each(`${select} ORDER BY rowid`)
}

/**
 * The records, in parts of few bytes. The driver reads a hundred rows ahead: a hundred texts of gray versions may be larger than the
 * heap of this thread.
 */
function* recordRows(connection: SqliteConnection, select: string): Generator<SqlValue[]> {
  const query = `${select} WHERE rowid BETWEEN ? AND ? ORDER BY rowid`
  for (const { first, last } of partsOfRecords(connection)) yield* connection.all(query, [first, last])
}

interface Part {
  readonly first: number
  last: number
  bytes: number
}

function partsOfRecords(connection: SqliteConnection): readonly Part[] {
  const parts: Part[] = []
  for (const row of connection.each('SELECT rowid, octet_length(value) FROM record ORDER BY rowid')) {
    const [rowId, bytes] = [Number(row[0]), Number(row[1])]
    const part = parts.at(-1)
    if (part === undefined || part.bytes + bytes > TEXT_PER_BATCH)
      parts.push({ first: rowId, last: rowId, bytes })
    else {
      part.last = rowId
      part.bytes += bytes
    }
  }
  return parts
}

/** The characters of the texts of a row. */
function textsIn(values: Values): number {
  return values.reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 0), 0)
}
