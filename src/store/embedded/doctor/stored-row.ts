import type { SqlValue } from '../connection.ts'
import type { Met } from '../file/tree-walk.ts'
import { TABLES, verifiedRow, type Row, type Table, type TableName } from '../tables.ts'

type MetRow = Extract<Met, { kind: 'row' }>

/** A row of a table, checked. */
export interface StoredRow {
  readonly table: TableName
  readonly rowid: number
  /** Its columns in the order of `columnsOf`, without the checksum. */
  readonly row: Row
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

/** The row as it was written; undefined where its number of columns or its checksum does not fit the table. */
export function storedRow(table: TableName, met: MetRow): StoredRow | undefined {
  const row = checkedRow(table, met)
  return row === undefined ? undefined : { table, rowid: met.rowid, row }
}

/** The row of whichever table it fits: the checksum proves it. */
export function storedRowOfAny(met: MetRow): StoredRow | undefined {
  for (const table of TABLE_NAMES) {
    const stored = storedRow(table, met)
    if (stored !== undefined) return stored
  }
  return undefined
}

function checkedRow(table: TableName, met: MetRow): Row | undefined {
  const definition = TABLES[table]
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
