import { checksumColumnsOf, columnsOf, type CheckedTable, verified } from '../checked-row.ts'
import type { SqlValue } from '../connection.ts'
import type { Met } from '../file/tree-walk.ts'
import type { Values } from '../table.ts'
import { type RowOf, TABLE_NAMES, type TableName, TABLES } from '../tables.ts'

type MetRow = Extract<Met, { kind: 'row' }>

/** A row of any table. */
export type AnyRow = { readonly [T in TableName]: { readonly table: T; readonly row: RowOf<T> } }[TableName]

/** A row of any table that was read and checked. */
export type StoredRow = AnyRow & { readonly rowid: number; readonly checksum: number }

/** In these tables the key is the rowid, which is not kept in the row itself. */
const KEYED_BY_ROWID = new Set<TableName>([
  'config_name',
  'config_revision',
  'config_item',
  'service',
  'instance',
])

/** The row as it was written; undefined where its number of columns or its checksum does not fit the table. */
export function storedRow(table: TableName, { rowid, values }: MetRow): StoredRow | undefined {
  const found = KEYED_BY_ROWID.has(table) ? values.with(0, rowid) : values
  const definition = TABLES[table]
  const sound = checkedValues(definition, found)
  if (sound === undefined) return undefined
  const checksum = found.at(definition.content === undefined ? -1 : -2)
  return { table, row: definition.decode(sound), rowid, checksum } as StoredRow
}

/** The row of whichever table it fits: the checksum proves it. */
export function storedRowOfAny(met: MetRow): StoredRow | undefined {
  for (const table of TABLE_NAMES) {
    const stored = storedRow(table, met)
    if (stored !== undefined) return stored
  }
  return undefined
}

function checkedValues(table: CheckedTable, found: Values): Values | undefined {
  const checksumCount = checksumColumnsOf(table).length
  const contentCount = table.content === undefined ? 0 : 1
  if (found.length !== columnsOf(table).length + checksumCount) return undefined
  // In the file the content comes after the checksums.
  const end = found.length - contentCount
  const fields = found.slice(0, end - checksumCount).map(textOf)
  const checksums = found.slice(end - checksumCount, end)
  try {
    return verified(table, { values: [...fields, ...found.slice(end)], checksums, hasContent: true })
  } catch {
    return undefined
  }
}

/** A text with a NUL is stored as bytes. */
function textOf(value: SqlValue): SqlValue {
  return Buffer.isBuffer(value) ? value.toString() : value
}
