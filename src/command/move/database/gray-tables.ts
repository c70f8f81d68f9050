import type { DatabaseRow } from './connection.ts'

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
