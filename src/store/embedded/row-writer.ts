import { storable, type Connection, type SqlValue } from './connection.ts'
import { checksumOf, columnsOf, type Table } from './tables.ts'

const STATEMENT_SIZES = [50, 16, 4]

/**
 * Writes and drops rows of one table, many with one statement, in the order in which they are given: `add` and `drop`
 * gather, `flush` carries out what is left.
 */
export class RowWriter {
  readonly #connection: Connection
  readonly #table: Table
  readonly #columns: readonly string[]
  /** The statements made so far. */
  readonly #inserts = new Map<number, string>()
  readonly #deletes = new Map<number, string>()
  /** Rows to write, or keys of rows to drop: one of the two is empty. */
  #rows: SqlValue[][] = []
  #dropped: SqlValue[][] = []

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
    this.#flushDropped()
    this.#rows.push(row)
    if (this.#rows.length >= this.#table.rowsAtOnce) this.#flushRows()
  }

  /** Takes the key of a row that is to go, if it is there; it is gone by the next `flush` at the latest. */
  drop(key: readonly unknown[]): void {
    this.#flushRows()
    this.#dropped.push(key.map(storable))
    if (this.#dropped.length >= this.#table.rowsAtOnce) this.#flushDropped()
  }

  /** Carries out everything taken so far. */
  flush(): void {
    this.#flushRows()
    this.#flushDropped()
  }

  /** Forgets what was taken and not carried out. */
  reset(): void {
    this.#rows = []
    this.#dropped = []
  }

  #flushRows(): void {
    if (this.#rows.length === 0) return
    const rows = this.#rows
    this.#rows = []
    this.#runTogether(rows, (size) => remembered(this.#inserts, size, () => this.#makeInsert(size)))
  }

  #flushDropped(): void {
    if (this.#dropped.length === 0) return
    const keys = this.#dropped
    this.#dropped = []
    this.#runTogether(keys, (size) => remembered(this.#deletes, size, () => this.#makeDelete(size)))
  }

  /** In a few sizes only, so that there are few statements to prepare. */
  #runTogether(rows: readonly SqlValue[][], statement: (size: number) => string): void {
    for (let at = 0; at < rows.length;) {
      const left = Math.min(rows.length - at, this.#table.rowsAtOnce)
      const size = STATEMENT_SIZES.find((each) => each <= left) ?? 1
      this.#connection.runRows(statement(size), rows.slice(at, at + size))
      at += size
    }
  }

  #makeInsert(rows: number): string {
    const row = `(${this.#columns.map(() => '?').join(', ')})`
    const values = Array.from({ length: rows }, () => row).join(', ')
    const insert = this.#table.isAppended ? 'INSERT' : 'INSERT OR REPLACE'
    return `${insert} INTO ${this.#table.name} (${this.#columns.join(', ')}) VALUES ${values}`
  }

  #makeDelete(rows: number): string {
    const row = `(${this.#table.key.map((column) => `${column} = ?`).join(' AND ')})`
    const any = Array.from({ length: rows }, () => row).join(' OR ')
    return `DELETE FROM ${this.#table.name} WHERE ${any}`
  }
}

/** The values of a row, for writers that do not gather. */
export function withChecksum(table: Table, values: readonly unknown[]): SqlValue[] {
  const row = values.map(storable)
  row.push(checksumOf(table, row))
  return row
}

function remembered(texts: Map<number, string>, size: number, make: () => string): string {
  const kept = texts.get(size)
  if (kept !== undefined) return kept
  const made = make()
  texts.set(size, made)
  return made
}
