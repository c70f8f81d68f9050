import { checksumColumnsOf, columnsOf, type CheckedTable, withChecksums } from './row-reader.ts'
import { storable, type SqliteConnection, type SqlValue } from '../database/connection.ts'

/**
 * Writes and deletes rows of one table in order, many with one statement: `add` and `drop` collect, `flush` writes the
 * rest.
 */
export class RowWriter {
  readonly #table: CheckedTable
  readonly #columns: readonly string[]
  /** Rows to write, and keys of rows to delete: one of the two is empty. */
  readonly #written: GatheredRows
  readonly #dropped: GatheredRows

  constructor(connection: SqliteConnection, table: CheckedTable) {
    this.#table = table
    this.#columns = [...columnsOf(table), ...checksumColumnsOf(table)]
    this.#written = new GatheredRows(connection, table.rowsAtOnce, (rows) => this.#insertOf(rows))
    this.#dropped = new GatheredRows(connection, table.rowsAtOnce, (rows) => this.#deleteOf(rows))
  }

  /** Adds the values of a row (`Table.encode`). It is written by the next `flush` at the latest. */
  add(values: readonly unknown[]): void {
    const row = withChecksums(this.#table, values)
    if (row.length !== this.#columns.length) {
      throw new Error(`A row of ${this.#table.name} has ${row.length} columns, not ${this.#columns.length}`)
    }
    this.#dropped.flush()
    this.#written.add(row)
  }

  /** Adds the key of a row to delete, if it exists. It is deleted by the next `flush` at the latest. */
  drop(key: readonly unknown[]): void {
    this.#written.flush()
    this.#dropped.add(key.map(storable))
  }

  /** Writes and deletes all pending rows. */
  flush(): void {
    this.#written.flush()
    this.#dropped.flush()
  }

  /** Discards all pending rows. */
  reset(): void {
    this.#written.reset()
    this.#dropped.reset()
  }

  #insertOf(rows: number): string {
    const row = `(${this.#columns.map(() => '?').join(', ')})`
    const values = Array.from({ length: rows }, () => row).join(', ')
    const insert = `INSERT INTO ${this.#table.name} (${this.#columns.join(', ')}) VALUES ${values}`
    if (this.#table.isAppended) return insert
    // A row that is replaced keeps its rowid, and with it its place in the order.
    const changed = this.#columns.filter((column) => !this.#table.key.includes(column))
    const changes = changed.map((column) => `${column} = excluded.${column}`)
    return `${insert} ON CONFLICT (${this.#table.key.join(', ')}) DO UPDATE SET ${changes.join(', ')}`
  }

  #deleteOf(rows: number): string {
    const row = `(${this.#table.key.map((column) => `${column} = ?`).join(' AND ')})`
    const any = Array.from({ length: rows }, () => row).join(' OR ')
    return `DELETE FROM ${this.#table.name} WHERE ${any}`
  }
}

/** Few sizes, so that few statements are prepared. */
const STATEMENT_SIZES = [50, 16, 4, 1]

/** Rows that are pending for one kind of statement. A statement takes many rows: running it costs more than a row in it. */
class GatheredRows {
  readonly #connection: SqliteConnection
  readonly #most: number
  readonly #statementFor: (rows: number) => string
  /** The statements by how many rows they take. */
  readonly #statements = new Map<number, string>()
  #rows: SqlValue[][] = []

  /** `most`: how many rows a statement takes at most. `statementFor` returns the statement for that many rows. */
  constructor(connection: SqliteConnection, most: number, statementFor: (rows: number) => string) {
    this.#connection = connection
    this.#most = most
    this.#statementFor = statementFor
  }

  /** Adds a row of values from `storable`. It is written by the next `flush` at the latest. */
  add(row: SqlValue[]): void {
    this.#rows.push(row)
    if (this.#rows.length >= this.#most) this.flush()
  }

  /** Writes all pending rows. */
  flush(): void {
    const rows = this.#rows
    if (rows.length === 0) return
    this.#rows = []
    for (let at = 0; at < rows.length;) {
      const size = this.#sizeFor(rows.length - at)
      this.#connection.runRows(this.#statement(size), rows.slice(at, at + size))
      at += size
    }
  }

  /** Discards all pending rows. */
  reset(): void {
    this.#rows = []
  }

  #sizeFor(left: number): number {
    return STATEMENT_SIZES.find((size) => size <= left && size <= this.#most) ?? 1
  }

  #statement(rows: number): string {
    const kept = this.#statements.get(rows)
    if (kept !== undefined) return kept
    const made = this.#statementFor(rows)
    this.#statements.set(rows, made)
    return made
  }
}
