import type { OnProgress } from '../../local-file.ts'
import type { SqliteConnection } from '../database/connection.ts'
import type { NameText } from '../rows/messages.ts'
import type { Table } from '../rows/table.ts'
import { type RowOf, TABLE_NAMES, type TableName, TABLES } from '../rows/tables.ts'
import { lostPages } from './sqlite-check.ts'
import { isDamage, type RowRange, TableRows } from './table-rows.ts'

/** A row of any table. */
export type AnyRow = { readonly [T in TableName]: { readonly table: T; readonly row: RowOf<T> } }[TableName]

/** A row of any table that was read and checked. */
export type StoredRow = AnyRow & { readonly rowid: number; readonly checksum: number }

/** A sound row, or something broken. */
export type ReadRow =
  | { readonly kind: 'row'; readonly stored: StoredRow }
  | { readonly kind: 'broken'; readonly table: TableName; readonly rows: RowRange; readonly problem: string }

/** The doctor's access to the rows of a store. */
export interface RowSource {
  /** All rows, table by table. In a damaged file a row may come twice; the first counts. */
  read(step: string, onProgress: OnProgress): Iterable<ReadRow>
  /** Names that only the index has, not `known`. They have no checksum. */
  namesInIndex(known: ReadonlyMap<number, NameText>): Iterable<{ id: number; name: NameText }>
  /** The newest revision of a name in the index, which has no checksum; 0 without a revision. */
  newestInIndex(nameId: number): number
}

const ROWS_PER_REPORT = 1_000

// Texts are read as hexadecimal digits: the driver ends the process on a text that is not UTF-8.
const NEXT_NAME = `
  SELECT id + 0, hex(namespace_id), hex(group_name), hex(data_id)
  FROM config_name INDEXED BY sqlite_autoindex_config_name_1
  WHERE (namespace_id, group_name, data_id) > (?, ?, ?) ORDER BY namespace_id, group_name, data_id LIMIT 1`

const NEWEST_REVISION =
  'SELECT max(id) FROM config_revision INDEXED BY config_revision_by_name WHERE name_id = ?'

/** Row numbers that are times are far from zero: where both ends of the table are damaged, an index says about where. */
const NUMBERS_IN_INDEX: Partial<Record<TableName, string>> = {
  config_revision: 'SELECT id FROM config_revision INDEXED BY config_revision_by_name LIMIT 1000',
  audit: "SELECT id FROM audit INDEXED BY audit_refused WHERE result <> 'done' LIMIT 1000",
}

/** The rows of a store, read with SQLite. */
export class StoreRows implements RowSource {
  readonly #connection: SqliteConnection
  #lostPages: readonly number[] | undefined

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  *read(step: string, onProgress: OnProgress): Generator<ReadRow> {
    const total = this.#rowsOf(TABLE_NAMES)
    const incomplete = new Set<TableName>()
    let count = 0
    for (const table of TABLE_NAMES) {
      onProgress(step, count, total)
      const definition = TABLES[table] as Table<unknown>
      for (const met of new TableRows(this.#connection, definition, NUMBERS_IN_INDEX[table]).all()) {
        if (++count % ROWS_PER_REPORT === 0) onProgress(step, count, total)
        if (met.kind === 'row') {
          const { row, rowid, checksum } = met
          yield { kind: 'row', stored: { table, row, rowid, checksum } as StoredRow }
        } else {
          if (met.from !== met.to) incomplete.add(table)
          yield { kind: 'broken', table, rows: { from: met.from, to: met.to }, problem: met.problem }
        }
      }
    }
    for (const table of incomplete) yield* this.#lostRows(table)
  }

  /** Rows below pages that were below a damaged one: each such page is read as if the table began there. */
  *#lostRows(table: TableName): Generator<ReadRow> {
    this.#lostPages ??= lostPages(this.#connection)
    const seen = new Set<number>()
    for (const page of this.#lostPages) {
      for (const { rowid, checksum, row } of this.#rowsBelow(page, table)) {
        if (seen.has(rowid)) continue
        seen.add(rowid)
        yield { kind: 'row', stored: { table, row, rowid, checksum } as StoredRow }
      }
    }
  }

  /** The list of tables is changed for that, and never committed. */
  #rowsBelow(page: number, table: TableName) {
    this.#connection.exec('BEGIN; PRAGMA writable_schema = ON')
    try {
      this.#connection.run('UPDATE sqlite_schema SET rootpage = ? WHERE name = ?', [page, table])
      this.#connection.exec('PRAGMA writable_schema = RESET')
      return [...new TableRows(this.#connection, TABLES[table] as Table<unknown>).sound()]
    } finally {
      this.#connection.exec('ROLLBACK; PRAGMA writable_schema = RESET')
    }
  }

  /** From each known name on, the names that follow it and are not known: so a damaged page of the index costs its own names. */
  *namesInIndex(known: ReadonlyMap<number, NameText>): Generator<{ id: number; name: NameText }> {
    const seen = new Set(known.keys())
    for (const start of [['', '', ''] as const, ...known.values()]) {
      let next = this.#nameAfter(start)
      while (next !== undefined && !seen.has(next.id)) {
        seen.add(next.id)
        yield next
        next = this.#nameAfter(next.name)
      }
    }
  }

  /** For the progress: how many rows there are. Damaged tables do not count. */
  #rowsOf(tables: readonly TableName[]): number {
    const count = (table: TableName) => this.#connection.number(`SELECT count(*) FROM ${table}`)
    return tables.reduce((sum, table) => sum + (this.#unlessDamaged(() => count(table)) ?? 0), 0)
  }

  newestInIndex(nameId: number): number {
    return this.#unlessDamaged(() => this.#connection.number(NEWEST_REVISION, [nameId])) ?? 0
  }

  #nameAfter(name: NameText): { id: number; name: NameText } | undefined {
    const found = this.#unlessDamaged(() => this.#connection.first(NEXT_NAME, name))
    if (found === undefined) return undefined
    const [id, ...digits] = found
    const [namespaceId = '', group = '', dataId = ''] = digits.map((text) =>
      Buffer.from(String(text), 'hex').toString(),
    )
    return { id: Number(id), name: [namespaceId, group, dataId] }
  }

  #unlessDamaged<T>(read: () => T): T | undefined {
    try {
      return read()
    } catch (error) {
      if (isDamage(error)) return undefined
      throw error
    }
  }
}
