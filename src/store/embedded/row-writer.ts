import { storable, type Connection, type SqlValue } from './connection.ts'
import { checksumOf, columnsOf, type Table } from './tables.ts'

const STATEMENT_SIZES = [50, 16, 4]

/** Writes rows of one table, many with one statement: `add` gathers, `flush` writes what is left. */
export class RowWriter {
  readonly #connection: Connection
  readonly #table: Table
  readonly #columns: readonly string[]
  /** The statements made so far, by how many rows they take. */
  readonly #inserts = new Map<number, string>()
  #pending: SqlValue[][] = []

  constructor(connection: Connection, table: Table) {
    this.#connection = connection
    this.#table = table
    this.#columns = [...columnsOf(table), 'checksum']
  }

  /** Takes a row to write; it is written by the next `flush` at the latest. */
  add(values: readonly unknown[]): void {
    const row = withChecksum(this.#table, values)
    if (row.length !== this.#columns.length) {
      throw new Error(`A row of ${this.#table.name} has ${row.length} columns, not ${this.#columns.length}`)
    }
    this.#pending.push(row)
    if (this.#pending.length >= this.#table.rowsAtOnce) this.flush()
  }

  /** Writes everything taken so far. */
  flush(): void {
    let at = 0
    while (at < this.#pending.length) {
      const size = this.#statementSize(this.#pending.length - at)
      this.#connection.runRows(this.#insert(size), this.#pending.slice(at, at + size))
      at += size
    }
    this.#pending = []
  }

  /** Forgets what was taken and not written. */
  reset(): void {
    this.#pending = []
  }

  /** A few sizes only, so that there are few statements to prepare. */
  #statementSize(left: number): number {
    return STATEMENT_SIZES.find((size) => size <= left && size <= this.#table.rowsAtOnce) ?? 1
  }

  #insert(rows: number): string {
    const kept = this.#inserts.get(rows)
    if (kept !== undefined) return kept
    const made = this.#makeInsert(rows)
    this.#inserts.set(rows, made)
    return made
  }

  #makeInsert(rows: number): string {
    const row = `(${this.#columns.map(() => '?').join(', ')})`
    const values = Array.from({ length: rows }, () => row).join(', ')
    const insert = this.#table.isAppended ? 'INSERT' : 'INSERT OR REPLACE'
    return `${insert} INTO ${this.#table.name} (${this.#columns.join(', ')}) VALUES ${values}`
  }
}

/** The values of a row, for writers that do not gather. */
export function withChecksum(table: Table, values: readonly unknown[]): SqlValue[] {
  const row = values.map(storable)
  row.push(checksumOf(table, row))
  return row
}
