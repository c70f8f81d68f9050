import { crc32 } from 'node:zlib'
import type { SqlValue } from './connection.ts'

/** The values of one row, in the order of its table's columns. */
export type Row = readonly SqlValue[]

/**
 * How rows of a table are written and checked. `checked` columns come first in every row and are covered by
 * the row's checksum; `loose` ones change without it being made anew. `content` (bytes, or a text without NUL)
 * is covered as well, as it stands. A row whose key is there replaces that one, unless `isAppended`.
 */
export interface Table {
  readonly name: string
  readonly checked: readonly string[]
  readonly loose: readonly string[]
  /** The columns that name a row; of `checked`. */
  readonly key: readonly string[]
  /** Those of all its columns that hold a text or NULL; the others hold numbers, and `content` bytes. */
  readonly texts: readonly string[]
  readonly content?: string
  readonly isAppended?: true
  /** How many rows one INSERT statement takes at most. */
  readonly rowsAtOnce: number
}

/** Every table of the file; `schema.ts` makes them with the same columns. */
export const TABLES = {
  meta: {
    name: 'meta',
    checked: ['name', 'value'],
    loose: [],
    key: ['name'],
    texts: ['name', 'value'],
    rowsAtOnce: 1,
  },
  config_name: {
    name: 'config_name',
    checked: ['id', 'namespace_id', 'group_name', 'data_id'],
    loose: [],
    key: ['id'],
    texts: ['namespace_id', 'group_name', 'data_id'],
    rowsAtOnce: 1,
  },
  config_revision: {
    name: 'config_revision',
    checked: [
      'id',
      'name_id',
      'item_id',
      'op',
      'prev_id',
      'md5',
      'type',
      'app_name',
      'encrypted_data_key',
      'src_ip',
      'src_user',
      'at_ms',
    ],
    // Cleaning turns a record into a carrier by this bit alone.
    loose: ['hidden'],
    key: ['id'],
    texts: ['op', 'md5', 'type', 'app_name', 'encrypted_data_key', 'src_ip', 'src_user'],
    content: 'content',
    isAppended: true,
    rowsAtOnce: 16,
  },
  config_item: {
    name: 'config_item',
    checked: [
      'name_id',
      'id',
      'revision_id',
      'created_ms',
      'create_user',
      'create_ip',
      'description',
      'use',
      'effect',
      'schema',
      'config_tags',
    ],
    loose: [],
    key: ['name_id'],
    texts: ['create_user', 'create_ip', 'description', 'use', 'effect', 'schema', 'config_tags'],
    rowsAtOnce: 16,
  },
  namespace: {
    name: 'namespace',
    checked: ['id', 'show_name', 'description'],
    loose: [],
    key: ['id'],
    texts: ['id', 'show_name', 'description'],
    rowsAtOnce: 16,
  },
  service: {
    name: 'service',
    checked: [
      'serial',
      'namespace_id',
      'grouped_name',
      'protect_threshold',
      'made_by',
      'selector',
      'clusters',
      'metadata',
      'saved_ms',
    ],
    loose: [],
    key: ['serial'],
    texts: ['namespace_id', 'grouped_name', 'made_by', 'selector', 'clusters', 'metadata'],
    rowsAtOnce: 16,
  },
  instance: {
    name: 'instance',
    checked: ['serial', 'service_serial', 'healthy', 'record'],
    loose: [],
    key: ['serial'],
    texts: ['record'],
    rowsAtOnce: 50,
  },
  remembered_metadata: {
    name: 'remembered_metadata',
    checked: ['namespace_id', 'grouped_name', 'ip', 'port', 'cluster', 'metadata', 'at_ms'],
    loose: [],
    key: ['namespace_id', 'grouped_name', 'ip', 'port', 'cluster'],
    texts: ['namespace_id', 'grouped_name', 'ip', 'cluster', 'metadata'],
    rowsAtOnce: 16,
  },
} satisfies Record<string, Table>

/** The name of a table. */
export type TableName = keyof typeof TABLES

/** The columns of a row as they are written and read, without the checksum that follows them. */
export function columnsOf(table: Table): string[] {
  return [...table.checked, ...table.loose, ...(table.content === undefined ? [] : [table.content])]
}

/** The CRC-32 of a row: the name of its table and its checked columns as JSON, then its content. */
export function checksumOf(table: Table, row: Row): number {
  // With the name, a row that is found outside of its table fits no other table with as many columns.
  const fields = crc32(JSON.stringify([table.name, ...row.slice(0, table.checked.length)]))
  const content = table.content === undefined ? null : row.at(-1)
  // Bytes and the text that they would be are not the same.
  if (typeof content === 'string') return crc32(content, ~fields >>> 0)
  // zlib answers 0 for no bytes at all, or what it was given, as their memory happens to be.
  return Buffer.isBuffer(content) && content.length > 0 ? crc32(content, fields) : fields
}

/** What is in the file is not what was written there. The message names the table, the row and the way out. */
export class DamagedRow extends Error {
  constructor(table: string, rowName: string, problem: string) {
    super(
      `The row ${rowName} of the table ${table} is damaged: ${problem}. ` +
        'Run `waypost doctor` on the data directory, or put back a backup.',
    )
    this.name = 'DamagedRow'
  }
}

/**
 * A row as it was written, from a row as it was read (its columns, then its checksum).
 * Throws `DamagedRow` when the checksum does not fit.
 */
export function verifiedRow(table: Table, read: Row): Row {
  const row = read.slice(0, -1)
  if (checksumOf(table, row) !== read.at(-1)) {
    throw new DamagedRow(table.name, String(row[0]), 'its checksum does not fit its contents')
  }
  return row
}
