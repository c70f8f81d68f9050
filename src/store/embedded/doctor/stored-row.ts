import type { SqlValue } from '../connection.ts'
import type { Met } from '../file/tree-walk.ts'
import { TABLES, verifiedRow, type Row, type Table, type TableName } from '../tables.ts'

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
export function storedRow(table: TableName, met: Extract<Met, { kind: 'row' }>): StoredRow | undefined {
  const definition: Table = TABLES[table]
  const values = [...met.values]
  if (values.length !== widthOf(definition)) return undefined
  if (KEYED_BY_ROWID.has(table)) values[0] = met.rowid
  try {
    return { table, rowid: met.rowid, row: verifiedRow(definition, asRead(definition, values)) }
  } catch {
    return undefined
  }
}

/** The row of whichever table it fits: every table has a number of columns of its own, and the checksum proves it. */
export function storedRowOfAny(met: Extract<Met, { kind: 'row' }>): StoredRow | undefined {
  const table = TABLE_NAMES.find((name) => widthOf(TABLES[name]) === met.values.length)
  return table === undefined ? undefined : storedRow(table, met)
}

function widthOf({ checked, loose, content }: Table): number {
  return checked.length + loose.length + 1 + (content === undefined ? 0 : 1)
}

/** In the file the content comes last, when rows are read the checksum does. */
function asRead({ content }: Table, values: SqlValue[]): SqlValue[] {
  if (content === undefined) return values
  const [checksum = null, bytes = null] = values.slice(-2)
  return [...values.slice(0, -2), bytes, checksum]
}
