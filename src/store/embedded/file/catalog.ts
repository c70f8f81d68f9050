import { isLaterTable, withFreshTables } from '../schema-shape.ts'
import { TABLES, type TableName } from '../tables.ts'
import type { DatabaseFile } from './database-file.ts'
import { walkTree } from './tree-walk.ts'

/** Where the trees of a file begin. */
export interface Catalog {
  /** The root page of each table; 0 for a later table that the file does not have. */
  readonly tables: Readonly<Record<TableName, number>>
  /** The root pages of indexes, by name. */
  readonly indexes: ReadonlyMap<string, number>
  /** Whether the file's own list could be read; else the places are those of every file of this format. */
  readonly isOwn: boolean
}

interface Entry {
  readonly type: string
  readonly name: string
  readonly root: number
}

/** Reads where the trees begin. A file that lost its list is read by the list of a fresh one, made in the same order. */
export function readCatalog(file: DatabaseFile): Catalog {
  const expected = freshEntries()
  const own: Entry[] = []
  for (const met of walkTree(file, 1, new Set())) {
    if (met.kind !== 'row') continue
    const [type, name, , root] = met.values
    own.push({ type: String(type), name: String(name), root: Number(root) })
  }
  const isOwn = expected.every(({ name }) => isLaterTable(name) || own.some((entry) => entry.name === name))
  const entries = isOwn ? own : expected
  const rootOf = (name: string) => entries.find((entry) => entry.name === name)?.root ?? 0
  const tables = Object.fromEntries(Object.keys(TABLES).map((name) => [name, rootOf(name)]))
  const indexes = entries
    .filter(({ type }) => type === 'index')
    .map(({ name, root }) => [name, root] as const)
  return { tables: tables as Record<TableName, number>, indexes: new Map(indexes), isOwn }
}

function freshEntries(): Entry[] {
  const rows = withFreshTables((connection) =>
    connection.all('SELECT type, name, rootpage FROM sqlite_schema'),
  )
  return rows.map(([type, name, root]) => ({ type: String(type), name: String(name), root: Number(root) }))
}
