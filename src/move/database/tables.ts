import type { Database, DatabaseRow } from './connection.ts'

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

/** The name of a gray version, and its rule. */
export interface GrayRule {
  readonly name: string
  readonly rule: string
  readonly expression: string
  readonly priority: number | null
}

/** The columns that say it. */
export const GRAY_COLUMNS = ['beta_ips', 'tag_id', 'gray_name', 'gray_rule']

/** The tables with gray versions. From 2.5 the first has all, and the others have copies. */
export const GRAY_TABLES: readonly (readonly [string, (row: DatabaseRow) => GrayRule])[] = [
  ['config_info_gray', (row) => ruleOf(row)],
  [
    'config_info_beta',
    (row) => ({ name: 'beta', rule: 'beta', expression: row['beta_ips'] ?? '', priority: null }),
  ],
  [
    'config_info_tag',
    (row) => ({ name: `tag_${row['tag_id']}`, rule: 'tag', expression: row['tag_id'] ?? '', priority: null }),
  ],
]

function ruleOf(row: DatabaseRow): GrayRule {
  const { type, expr, priority } = jsonOf(row['gray_rule'])
  const name = row['gray_name'] || 'gray'
  return {
    name,
    rule: typeof type === 'string' && type !== '' ? type : 'unknown',
    expression: typeof expr === 'string' ? expr : (row['gray_rule'] ?? ''),
    priority: Number.isFinite(Number(priority ?? Number.NaN)) ? Number(priority) : null,
  }
}

/** The fields of a JSON text; empty for other texts. */
export function jsonOf(text: string | null | undefined): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
