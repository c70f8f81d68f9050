import type { Connection } from './connection.ts'
import { ContentPack } from './content-pack.ts'
import { LostVersions, newestRevision, readVersionSums, VersionSums } from './current-versions.ts'
import { checkTotals, removeOrphans } from './instance-totals.ts'
import type { LoadBatch, Plain } from './messages.ts'
import { readMeta } from './meta.ts'
import { RowReader } from './row-reader.ts'
import { DamagedRow, TABLES, type Row, type Table } from './tables.ts'

const ROWS_PER_BATCH = 2_000

/**
 * Contents of a batch share one piece of memory, which stays while any of them is in use: so it is small,
 * and a large content has one of its own.
 */
const CONTENT_PER_BATCH = 256 * 1024

const NAMES = new RowReader(TABLES.config_name)
const ITEMS = new RowReader(TABLES.config_item)
const REVISIONS = new RowReader(TABLES.config_revision)

/**
 * Everything that a server needs to know to start, in batches; history is not read. Every row is checked.
 * Throws `DamagedRow`, `LostVersions` and `LostInstances`. Instances of services that are gone are removed.
 */
export function* loadBatches(connection: Connection): Generator<LoadBatch> {
  yield* configBatches(connection)
  yield* plainBatches(connection, 'namespaces', TABLES.namespace)
  yield* plainBatches(connection, 'services', TABLES.service)
  yield* plainBatches(connection, 'instances', TABLES.instance)
  checkTotals(connection)
  yield* plainBatches(connection, 'remembered', TABLES.remembered_metadata)
  yield {
    kind: 'settled',
    switchesJson: readMeta(connection, 'switches') ?? '{}',
    orphans: removeOrphans(connection),
  }
}

function* configBatches(connection: Connection): Generator<LoadBatch> {
  let rows: (readonly Plain[])[] = []
  let pack = new ContentPack()
  const found = new VersionSums()
  for (const read of connection.each(configQuery())) {
    const { nameId, revisionId, row, content } = configRow(read)
    found.move(nameId, 0, revisionId)
    if (
      rows.length >= ROWS_PER_BATCH ||
      (rows.length > 0 && pack.length + content.length > CONTENT_PER_BATCH)
    ) {
      yield { kind: 'configs', rows, contents: pack.pack() }
      rows = []
      pack = new ContentPack()
    }
    rows.push([...row, pack.add(content), content.length])
  }
  if (rows.length > 0) yield { kind: 'configs', rows, contents: pack.pack() }
  if (!found.equals(readVersionSums(connection))) throw new LostVersions()
}

function configQuery(): string {
  const columns = [NAMES, ITEMS, REVISIONS].flatMap((reader) => reader.columns)
  return `SELECT ${columns.join(', ')} FROM config_item
    LEFT JOIN config_name ON config_name.id = config_item.name_id
    LEFT JOIN config_revision ON config_revision.id = ${newestRevision('config_item.name_id')}
    ORDER BY config_item.name_id`
}

/** An item as it goes into a batch; the row is without the columns that join its parts. */
interface ConfigRow {
  readonly nameId: number
  readonly revisionId: number
  readonly row: readonly Plain[]
  readonly content: Buffer
}

/** Name, item and newest revision of one item, each checked. */
function configRow(read: Row): ConfigRow {
  const itemAt = NAMES.columns.length
  const revisionAt = itemAt + ITEMS.columns.length
  const itemRow = ITEMS.read(read, itemAt)
  if (read[0] === null) throw new DamagedRow('config_item', String(itemRow[0]), 'its name is missing')
  if (read[revisionAt] === null)
    throw new DamagedRow('config_item', String(itemRow[0]), 'its content is missing')
  const nameRow = NAMES.read(read)
  const revisionRow = REVISIONS.read(read, revisionAt)
  checkBelongs(itemRow, revisionRow)
  const [revisionId] = revisionRow
  const content = revisionRow.at(-1)
  if (!Buffer.isBuffer(content))
    throw new DamagedRow('config_revision', String(revisionId), 'it has no content')
  const [nameId, id, , ...born] = itemRow
  return {
    nameId: Number(nameId),
    revisionId: Number(revisionId),
    row: [
      ...plain(nameRow.slice(1)),
      ...plain([id ?? 0, revisionId ?? 0, ...born]),
      ...plain(revisionRow.slice(5, -2)),
    ],
    content,
  }
}

/** The newest revision found for an item must be one of this very item, and none from before its row was written. */
function checkBelongs(itemRow: Row, revisionRow: Row): void {
  const [nameId, itemId, writtenWith] = itemRow
  const [revisionId, itsNameId, itsItemId] = revisionRow
  if (nameId === itsNameId && itemId === itsItemId && Number(revisionId) >= Number(writtenWith)) return
  throw new DamagedRow(
    'config_item',
    String(nameId),
    `the newest version found for it, ${revisionId}, is not one of its own or older than the row`,
  )
}

function* plainBatches(
  connection: Connection,
  kind: 'namespaces' | 'services' | 'instances' | 'remembered',
  table: Table,
): Generator<LoadBatch> {
  const reader = new RowReader(table)
  let rows: (readonly Plain[])[] = []
  for (const read of connection.each(
    `SELECT ${reader.columns.join(', ')} FROM ${table.name} ORDER BY rowid`,
  )) {
    rows.push(plain(reader.read(read)))
    if (rows.length < ROWS_PER_BATCH) continue
    yield { kind, rows }
    rows = []
  }
  if (rows.length > 0) yield { kind, rows }
}

/** Checked rows hold no bytes besides their content. */
function plain(row: Row): readonly Plain[] {
  return row as readonly Plain[]
}
