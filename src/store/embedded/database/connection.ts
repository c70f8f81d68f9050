import Database from 'libsql'

/** A value of a column. Booleans are written as 0 and 1, objects as JSON. */
export type SqlValue = string | number | Buffer | null

/** A value that cannot be written: the fault of who gave it, not of the store. */
class UnstorableValue extends Error {
  constructor(value: unknown) {
    super(`A value of type ${typeof value} (${String(value)}) cannot be stored in a column`)
    this.name = 'UnstorableValue'
  }
}

/**
 * A value in the form in which it is read back, so that a checksum made before writing fits after reading. A lone surrogate
 * has no UTF-8 and becomes U+FFFD. Throws `UnstorableValue` for a value that no column can hold.
 */
export function storable(value: unknown): SqlValue {
  if (typeof value === 'string') return value.toWellFormed()
  if (typeof value === 'number') {
    if (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value))) {
      throw new UnstorableValue(value)
    }
    return value
  }
  if (value === null || Buffer.isBuffer(value)) return value
  throw new UnstorableValue(value)
}

/**
 * A value for the driver. The driver cuts a text at its first NUL when it reads, so such a text is written as bytes. It ends
 * the process on a type that it does not know: everything passes `storable` first.
 */
function bindable(value: SqlValue): SqlValue {
  return bindableStored(storable(value))
}

/** The same for a value that `storable` gave. */
function bindableStored(value: SqlValue): SqlValue {
  return typeof value === 'string' && value.includes('\0') ? Buffer.from(value, 'utf8') : value
}

/**
 * The one connection to the database file, with its prepared statements. Everything is synchronous. The driver releases
 * a closed file only with its statements, which end with the worker thread: closing alone does not release the
 * directory.
 */
export class SqliteConnection {
  readonly #database: InstanceType<typeof Database>
  readonly #statements = new Map<string, Database.Statement>()
  readonly #queries = new Map<string, Database.Statement>()

  /** Opens or makes the file; `readonly` only opens it. Throws the driver's error. */
  constructor(path: string, options: { readonly: boolean } = { readonly: false }) {
    this.#database = options.readonly ? new Database(path, { readonly: true }) : new Database(path)
  }

  /** Runs statements without values and ignores their rows. */
  exec(sql: string): void {
    this.#database.exec(sql)
  }

  /** Runs a writing statement; answers how many rows it changed. */
  run(sql: string, values: readonly SqlValue[] = []): number {
    return this.#run(sql, values.map(bindable))
  }

  /** Runs a writing statement once for each row of `storable` values. */
  runRows(sql: string, rows: readonly (readonly SqlValue[])[]): void {
    const values: SqlValue[] = []
    for (const row of rows) for (const value of row) values.push(bindableStored(value))
    this.#run(sql, values)
  }

  #run(sql: string, values: readonly SqlValue[]): number {
    let statement = this.#statements.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql)
      this.#statements.set(sql, statement)
    }
    return statement.run(values).changes
  }

  /** All rows of a query, each an array of its columns. */
  all(sql: string, values: readonly SqlValue[] = []): SqlValue[][] {
    const bound = values.map(bindable)
    return this.#answer(sql, (statement) => statement.all(bound) as SqlValue[][])
  }

  /** The first row of a query. */
  first(sql: string, values: readonly SqlValue[] = []): SqlValue[] | undefined {
    const bound = values.map(bindable)
    return this.#answer(sql, (statement) => statement.get(bound) as SqlValue[] | undefined)
  }

  /** The first column of the first row, as a number; 0 without a row. */
  number(sql: string, values: readonly SqlValue[] = []): number {
    return Number(this.first(sql, values)?.[0] ?? 0)
  }

  /** The rows of a query, one by one; must be read to the end. */
  *each(sql: string, values: readonly SqlValue[] = []): Generator<SqlValue[]> {
    const statement = this.#query(sql)
    try {
      yield* statement.iterate(values.map(bindable)) as Iterable<SqlValue[]>
    } catch (error) {
      this.#queries.delete(sql)
      throw error
    }
  }

  /** Does the work in one transaction: everything is on the disk on return, or nothing if it throws. */
  transaction<T>(work: () => T): T {
    this.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      this.exec('COMMIT')
      return result
    } catch (error) {
      // A full disk and I/O errors have rolled back already.
      if (this.#database.inTransaction) this.exec('ROLLBACK')
      throw error
    }
  }

  /** Ends the connection; see the class for when the file is free. */
  close(): void {
    this.#statements.clear()
    this.#queries.clear()
    this.#database.close()
  }

  /** A statement that has failed is prepared again: the driver would answer with the same error. */
  #answer<T>(sql: string, read: (statement: Database.Statement) => T): T {
    const statement = this.#query(sql)
    try {
      return read(statement)
    } catch (error) {
      this.#queries.delete(sql)
      throw error
    }
  }

  #query(sql: string): Database.Statement {
    let statement = this.#queries.get(sql)
    if (statement === undefined) {
      statement = this.#database.prepare(sql).raw()
      this.#queries.set(sql, statement)
    }
    return statement
  }
}
