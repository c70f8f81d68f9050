import type { SqlValue } from '../connection.ts'
import type { Met } from '../file/tree-walk.ts'
import { INSTANCE_OF_FORMAT_1, lineOfFormat1 } from '../format-1.ts'
import { INSTANCE_OF_FORMAT_3, lineOfFormat3 } from '../format-3.ts'
import { TABLES, verifiedRow, type Row, type Table, type TableName } from '../tables.ts'

type MetRow = Extract<Met, { kind: 'row' }>

/** A row of a table, checked. */
export interface StoredRow {
  readonly table: TableName
  readonly rowid: number
  /** Its columns in the order of `columnsOf`, without the checksum. */
  readonly row: Row
  /** Whether it was written by an older format. */
  readonly isOld: boolean
}

/** All tables, names before what speaks of them. */
export const TABLE_NAMES = Object.keys(TABLES) as TableName[]

/** The column that stands for the rowid is not kept in the row itself. */
const KEYED_BY_ROWID = new Set<TableName>([
  'config_name',
  'config_revision',
  'config_item',
  'service',
  'instance',
])

/**
 * The row as it was written, an older format's as this one has it; undefined where its number of columns or its
 * checksum does not fit the table.
 */
export function storedRow(table: TableName, met: MetRow): StoredRow | undefined {
  const row = checkedRow(TABLES[table], table, met)
  if (row !== undefined) return { table, rowid: met.rowid, row, isOld: false }
  const line = table === 'instance' ? lineOfOldRow(met) : undefined
  return line === undefined
    ? undefined
    : { table, rowid: met.rowid, row: [met.rowid, Buffer.from(line)], isOld: true }
}

/** The row of whichever table it fits: the checksum proves it. */
export function storedRowOfAny(met: MetRow): StoredRow | undefined {
  for (const table of TABLE_NAMES) {
    const stored = storedRow(table, met)
    if (stored !== undefined) return stored
  }
  return undefined
}

/** Of an older format, in which an instance had a row: its line. */
function lineOfOldRow(met: MetRow): string | undefined {
  const ofFormat3 = checkedRow(INSTANCE_OF_FORMAT_3, 'instance', met)
  if (ofFormat3 !== undefined) return lineOfFormat3(ofFormat3)
  const ofFormat1 = checkedRow(INSTANCE_OF_FORMAT_1, 'instance', met)
  return ofFormat1 === undefined ? undefined : lineOfFormat1(ofFormat1)
}

function checkedRow(definition: Table, table: TableName, met: MetRow): Row | undefined {
  const values = [...met.values]
  if (values.length !== widthOf(definition)) return undefined
  if (KEYED_BY_ROWID.has(table)) values[0] = met.rowid
  try {
    return verifiedRow(definition, asRead(definition, values))
  } catch {
    return undefined
  }
}

function widthOf({ checked, loose, content }: Table): number {
  return checked.length + loose.length + 1 + (content === undefined ? 0 : 1)
}

/** In the file the content comes last, when rows are read the checksum does. Other bytes are a text with a NUL. */
function asRead({ content }: Table, values: SqlValue[]): SqlValue[] {
  if (content === undefined) return values.map(textOf)
  const [checksum = null, bytes = null] = values.slice(-2)
  return [...values.slice(0, -2).map(textOf), bytes, checksum]
}

function textOf(value: SqlValue): SqlValue {
  return Buffer.isBuffer(value) ? value.toString() : value
}
