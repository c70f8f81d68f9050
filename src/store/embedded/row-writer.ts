import { checksumColumnsOf, columnsOf, type CheckedTable, withChecksums } from './checked-row.ts'
import { storable, type Connection } from './connection.ts'
import { GatheredRows } from './gathered-rows.ts'

/**
 * Writes and drops rows of one table, many with one statement, in the order in which they are given: `add` and `drop`
 * gather, `flush` carries out what is left.
 */
export class RowWriter {
  readonly #table: CheckedTable
  readonly #columns: readonly string[]
  /** Rows to write, and keys of rows to drop: one of the two is empty. */
  readonly #written: GatheredRows
  readonly #dropped: GatheredRows

  constructor(connection: Connection, table: CheckedTable) {
    this.#table = table
    this.#columns = [...columnsOf(table), ...checksumColumnsOf(table)]
    this.#written = new GatheredRows(connection, table.rowsAtOnce, (rows) => this.#insertOf(rows))
    this.#dropped = new GatheredRows(connection, table.rowsAtOnce, (rows) => this.#deleteOf(rows))
  }

  /** Takes the values of a row to write (`Table.encode`); it is written by the next `flush` at the latest. */
  add(values: readonly unknown[]): void {
    const row = withChecksums(this.#table, values)
    if (row.length !== this.#columns.length) {
      throw new Error(`A row of ${this.#table.name} has ${row.length} columns, not ${this.#columns.length}`)
    }
    this.#dropped.flush()
    this.#written.add(row)
  }

  /** Takes the key of a row that is to go, if it is there; it is gone by the next `flush` at the latest. */
  drop(key: readonly unknown[]): void {
    this.#written.flush()
    this.#dropped.add(key.map(storable))
  }

  /** Carries out everything taken so far. */
  flush(): void {
    this.#written.flush()
    this.#dropped.flush()
  }

  /** Forgets what was taken and not carried out. */
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
