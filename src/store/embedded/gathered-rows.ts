import type { Connection, SqlValue } from './connection.ts'

/** A few sizes only, so that there are few statements to prepare. */
const STATEMENT_SIZES = [50, 16, 4, 1]

/** Rows that wait to be given to one kind of statement, many together: each run of one costs more than a row in it. */
export class GatheredRows {
  readonly #connection: Connection
  readonly #most: number
  readonly #statementFor: (rows: number) => string
  /** The statements made so far, by how many rows they take. */
  readonly #statements = new Map<number, string>()
  #rows: SqlValue[][] = []

  /** `most` rows go into one statement at most; `statementFor` gives the one that takes so many. */
  constructor(connection: Connection, most: number, statementFor: (rows: number) => string) {
    this.#connection = connection
    this.#most = most
    this.#statementFor = statementFor
  }

  /** Takes a row of values that `storable` gave; they are given to a statement by the next `flush` at the latest. */
  add(row: SqlValue[]): void {
    this.#rows.push(row)
    if (this.#rows.length >= this.#most) this.flush()
  }

  /** Runs the statements for all rows taken so far. */
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

  /** Forgets the rows taken. */
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
