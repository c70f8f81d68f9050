import { crc32 } from 'node:zlib'
import { DamagedStore } from '../../local-file.ts'
import { storable, type SqlValue } from '../database/connection.ts'
import type { Table, Values } from './table.ts'

// A row is covered by two checksums: its own covers the checked columns and the checksum of the content.

/** The facts of a table that checking needs. */
export type CheckedTable = Omit<Table<unknown>, 'encode' | 'decode' | 'field' | 'replace'>

/** The columns of a row's values: first the checked columns, then the loose columns, then the content. */
export function columnsOf({ checked, loose, content }: CheckedTable): string[] {
  return [...checked, ...loose, ...(content === undefined ? [] : [content])]
}

/** The columns of the checksums of a row. */
export function checksumColumnsOf({ content }: CheckedTable): string[] {
  return content === undefined ? ['checksum'] : ['content_checksum', 'checksum']
}

/** The values of a row as they are stored, followed by its checksums. */
export function withChecksums(table: CheckedTable, values: readonly unknown[]): SqlValue[] {
  const row: SqlValue[] = []
  for (const value of values) row.push(storable(value))
  if (table.content === undefined) return [...row, rowChecksum(table, row, [])]
  const content = contentChecksum(row.at(-1))
  return [...row, content, rowChecksum(table, row, [content])]
}

/** The checked values of a row. If `hasContent` is false, the content was not read. Throws `DamagedRow`. */
export function verified(
  table: CheckedTable,
  { values, checksums, hasContent }: { values: Values; checksums: Values; hasContent: boolean },
): Values {
  const content = checksums.slice(0, -1)
  const isSound =
    rowChecksum(table, values, content) === checksums.at(-1) &&
    (!hasContent || table.content === undefined || contentChecksum(values.at(-1)) === content[0])
  if (isSound) return values
  throw new DamagedRow(table.name, rowName(table, values), 'its checksum does not fit its contents')
}

/**
 * The CRC-32 of the table's name, the checked columns and the checksum of the content, as JSON. With the name, a row of
 * another table with as many columns never fits.
 */
function rowChecksum(table: CheckedTable, values: Values, content: Values): number {
  return crc32(JSON.stringify([table.name, ...values.slice(0, table.checked.length), ...content]))
}

/** The CRC-32 of a content; null without a content. */
function contentChecksum(content: SqlValue | undefined): number | null {
  if (!Buffer.isBuffer(content)) return null
  // zlib gives an arbitrary result for an empty buffer without memory.
  return content.length > 0 ? crc32(content) : 0
}

function rowName(table: CheckedTable, values: Values): string {
  return table.key.map((column) => String(values[table.checked.indexOf(column)])).join(' ')
}

/** The file does not hold the values that were written. The message names the table, the row and the way out. */
export class DamagedRow extends DamagedStore {
  constructor(table: string, rowName: string, problem: string) {
    super(
      `The row ${rowName} of the table ${table} is damaged: ${problem}. ` +
        'Run `waypost doctor` on the data directory, or put back a backup.',
    )
    this.name = 'DamagedRow'
  }
}
