import type { Connection, SqlValue } from './connection.ts'
import { writeVersionSums } from './current-versions.ts'
import { EMPTY_INSTANCE_OF_FORMAT_1, INSTANCE_OF_FORMAT_1, lineOfFormat1 } from './format-1.ts'
import { versionSumsOfFormat2 } from './format-2.ts'
import { EMPTY_INSTANCE_OF_FORMAT_3, INSTANCE_OF_FORMAT_3, lineOfFormat3 } from './format-3.ts'
import { InstanceLog } from './instance-log.ts'
import { LongText } from './long-text.ts'
import { readMeta } from './meta.ts'
import { RowReader } from './row-reader.ts'
import { FORMAT } from './schema.ts'
import { columnsOf, DamagedRow, type Row, type Table } from './tables.ts'

const ROWS_AT_ONCE = 2_000

/** Gives an empty table of instances the columns of the log. */
const LOG_COLUMNS = `
ALTER TABLE instance RENAME COLUMN serial TO id;
ALTER TABLE instance ADD COLUMN checksum INTEGER NOT NULL;
ALTER TABLE instance ADD COLUMN lines BLOB NOT NULL;
`

/** How an older format kept instances. */
interface OldInstances {
  readonly table: Table
  readonly lineOf: (row: Row) => string
  /** The SQL that empties the table and leaves it `serial` alone. */
  readonly empty: string
}

const INSTANCES_OF_FORMAT_1: OldInstances = {
  table: INSTANCE_OF_FORMAT_1,
  lineOf: lineOfFormat1,
  empty: EMPTY_INSTANCE_OF_FORMAT_1,
}
const INSTANCES_OF_FORMAT_3: OldInstances = {
  table: INSTANCE_OF_FORMAT_3,
  lineOf: lineOfFormat3,
  empty: EMPTY_INSTANCE_OF_FORMAT_3,
}

/**
 * Brings a database of an older format to this one, in one transaction: after a crash it is of the old format or of
 * the new. Throws `DamagedRow`, and then changes nothing.
 */
export function migrate(connection: Connection, format: number): void {
  const instances = format < 2 ? INSTANCES_OF_FORMAT_1 : INSTANCES_OF_FORMAT_3
  refuseOtherFormat(connection, format, instances)
  connection.transaction(() => {
    migrateInstances(connection, instances)
    if (format < 3) writeVersionSums(connection, versionSumsOfFormat2(connection))
    connection.exec(`PRAGMA user_version = ${FORMAT}`)
  })
}

/** Nothing is made of a number that a bit has flipped in. */
function refuseOtherFormat(connection: Connection, format: number, { table }: OldInstances): void {
  const hasSums = readMeta(connection, 'current_versions') !== undefined
  const columns = connection.all("SELECT hex(name) FROM pragma_table_info('instance')").flat().map(ofHex)
  const hasColumns = [...columnsOf(table), 'checksum'].every((column) => columns.includes(column))
  if (hasSums === format >= 3 && hasColumns) return
  const problem = `the file says that it has format ${format}, and holds what only later formats have`
  throw new DamagedRow('meta', 'current_versions', problem)
}

function ofHex(digits: SqlValue): string {
  return Buffer.from(String(digits), 'hex').toString()
}

/** The table is emptied and changed, not made anew: in every file a table begins at the same page (`catalog.ts`). */
function migrateInstances(connection: Connection, old: OldInstances): void {
  const lines = linesOf(connection, old)
  connection.exec(old.empty)
  connection.exec(LOG_COLUMNS)
  const log = new InstanceLog(connection)
  for (const part of lines.parts()) {
    log.begin()
    log.append(part)
  }
}

/** The lines of all instances, read some rows at a time: as rows they take much more memory. */
function linesOf(connection: Connection, { table, lineOf }: OldInstances): LongText {
  const reader = new RowReader(table)
  const query = `SELECT ${reader.columns.join(', ')} FROM instance WHERE serial > ? ORDER BY serial LIMIT ?`
  const lines = new LongText()
  for (let after: SqlValue = -1; ;) {
    const rows: Row[] = connection.all(query, [after, ROWS_AT_ONCE]).map((row) => reader.read(row))
    for (const row of rows) lines.add(lineOf(row))
    after = rows.at(-1)?.[0] ?? null
    if (rows.length < ROWS_AT_ONCE) return lines
  }
}
