import type { Connection } from './connection.ts'
import { ContentPack } from './content-pack.ts'
import type { LoadBatch, Plain } from './messages.ts'
import { readMeta } from './meta.ts'
import { columnsOf, DamagedRow, TABLES, verifiedRow, type Row, type Table } from './tables.ts'

const ROWS_PER_BATCH = 2_000

/**
 * Contents of a batch share one piece of memory, which stays while any of them is in use: so it is small,
 * and a large content has one of its own.
 */
const CONTENT_PER_BATCH = 256 * 1024

const CONFIG_TABLES: readonly Table[] = [TABLES.config_name, TABLES.config_item, TABLES.config_revision]

/**
 * Everything that a server needs to know to start, in batches; history is not read. Every row is checked.
 * Throws `DamagedRow`.
 */
export function* loadBatches(connection: Connection): Generator<LoadBatch> {
  yield* configBatches(connection)
  yield* plainBatches(connection, 'namespaces', TABLES.namespace)
  yield* plainBatches(connection, 'services', TABLES.service)
  yield* plainBatches(connection, 'instances', TABLES.instance)
  yield* plainBatches(connection, 'remembered', TABLES.remembered_metadata)
  yield {
    kind: 'settled',
    switchesJson: readMeta(connection, 'switches') ?? '{}',
    clockHighMs: Number(readMeta(connection, 'clock_high_ms') ?? 0),
  }
}

/** Instances of services that are gone went with them (see `schema.ts`); answers how many that were. */
export function removeOrphans(connection: Connection): number {
  const orphans = 'instance WHERE service_serial NOT IN (SELECT serial FROM service)'
  // Asked first, so that a start writes nothing where there is nothing to write.
  if (connection.number(`SELECT count(*) FROM ${orphans}`) === 0) return 0
  return connection.transaction(() => connection.run(`DELETE FROM ${orphans}`))
}

function* configBatches(connection: Connection): Generator<LoadBatch> {
  let rows: (readonly Plain[])[] = []
  let pack = new ContentPack()
  for (const read of connection.each(configQuery())) {
    const { row, content } = configRow(read)
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
}

function configQuery(): string {
  const columns = CONFIG_TABLES.flatMap((table) =>
    readColumns(table).map((column) => `${table.name}.${column}`),
  )
  return `SELECT ${columns.join(', ')} FROM config_item
    LEFT JOIN config_name ON config_name.id = config_item.name_id
    LEFT JOIN config_revision ON config_revision.id = config_item.revision_id
    ORDER BY config_item.name_id`
}

/** Name, item and revision of one item, each checked, without the columns that join them. */
function configRow(read: Row): { row: readonly Plain[]; content: Buffer } {
  const parts = splitByTable(read)
  const [item, name, revision] = [parts[1], parts[0], parts[2]]
  const itemRow = verifiedRow(TABLES.config_item, item ?? [])
  if (name?.[0] === null) throw new DamagedRow('config_item', String(itemRow[0]), 'its name is missing')
  if (revision?.[0] === null)
    throw new DamagedRow('config_item', String(itemRow[0]), 'its content is missing')
  const nameRow = verifiedRow(TABLES.config_name, name ?? [])
  const revisionRow = verifiedRow(TABLES.config_revision, revision ?? [])
  const content = revisionRow.at(-1)
  if (!Buffer.isBuffer(content))
    throw new DamagedRow('config_revision', String(revisionRow[0]), 'it has no content')
  return {
    row: [...plain(nameRow.slice(1)), ...plain(itemRow.slice(1)), ...plain(revisionRow.slice(5, -2))],
    content,
  }
}

function splitByTable(read: Row): Row[] {
  let at = 0
  return CONFIG_TABLES.map((table) => read.slice(at, (at += readColumns(table).length)))
}

function* plainBatches(
  connection: Connection,
  kind: 'namespaces' | 'services' | 'instances' | 'remembered',
  table: Table,
): Generator<LoadBatch> {
  let rows: (readonly Plain[])[] = []
  for (const read of connection.each(
    `SELECT ${readColumns(table).join(', ')} FROM ${table.name} ORDER BY rowid`,
  )) {
    rows.push(plain(verifiedRow(table, read)))
    if (rows.length < ROWS_PER_BATCH) continue
    yield { kind, rows }
    rows = []
  }
  if (rows.length > 0) yield { kind, rows }
}

function readColumns(table: Table): string[] {
  return [...columnsOf(table), 'checksum']
}

/** Checked rows hold no bytes besides their content. */
function plain(row: Row): readonly Plain[] {
  return row as readonly Plain[]
}
