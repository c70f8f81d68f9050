import type { Database } from './connection.ts'

/** The tables of a database, and the columns that each has: they differ from version to version. */
export class Tables {
  readonly #columns: ReadonlyMap<string, ReadonlyMap<string, string | null>>

  private constructor(columns: ReadonlyMap<string, ReadonlyMap<string, string | null>>) {
    this.#columns = columns
  }

  /** Looks them up. Rejects if the tables of a configuration server are missing. */
  static async of(database: Database): Promise<Tables> {
    const rows = await database.rows(
      'SELECT table_name AS t, column_name AS c, collation_name AS o FROM information_schema.columns WHERE table_schema = DATABASE()',
    )
    const columns = new Map<string, Map<string, string | null>>()
    for (const { t, c, o } of rows) {
      const table = columns.get(t!.toLowerCase()) ?? new Map<string, string | null>()
      columns.set(t!.toLowerCase(), table.set(c!.toLowerCase(), o ?? null))
    }
    if (columns.has('config_info')) return new Tables(columns)
    throw new Error(`${database.url} has no table config_info: it is no database of such a server`)
  }

  has(table: string, column?: string): boolean {
    const columns = this.#columns.get(table)
    return columns !== undefined && (column === undefined || columns.has(column))
  }

  /** The collation of a column with texts. */
  collationOf(table: string, column: string): string {
    return this.#columns.get(table)?.get(column) ?? ''
  }

  /** The columns of a table for a SELECT; missing columns become null. */
  list(table: string, columns: readonly string[], alias = table): string {
    return columns
      .map((name) => (this.has(table, name) ? `${alias}.\`${name}\`` : `NULL AS \`${name}\``))
      .join(', ')
  }
}
