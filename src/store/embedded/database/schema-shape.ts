import { SqliteConnection } from './connection.ts'
import { PAGE_BYTES } from './format.ts'
import { SCHEMA } from './schema.ts'

// As digits, because a text of a damaged file may be no text: see `row-reader.ts`.
const SHAPE = `
  SELECT hex(entry.type), hex(entry.name), CAST(entry.rootpage AS INTEGER), (
    SELECT group_concat(hex(name) || ' ' || hex(type) || ' ' || "notnull" || pk) FROM pragma_table_info(entry.name)
  ), (
    SELECT group_concat(hex(name)) FROM pragma_index_info(entry.name)
  )
  FROM sqlite_schema AS entry`

/**
 * Whether a database has the tables, indexes, columns and first pages that this version makes, which are the same in every
 * file. Other tables do not matter.
 */
export function hasWholeSchema(connection: SqliteConnection): boolean {
  const found = new Set(shapeOf(connection))
  return withFreshTables((fresh) => shapeOf(fresh).every((entry) => found.has(entry)))
}

/** Reads from a new and empty database in memory. */
function withFreshTables<T>(read: (connection: SqliteConnection) => T): T {
  const connection = new SqliteConnection(':memory:')
  try {
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    connection.exec(SCHEMA)
    return read(connection)
  } finally {
    connection.close()
  }
}

/** Each table and index with its kind, name, first page and columns. */
function shapeOf(connection: SqliteConnection): string[] {
  return connection.all(SHAPE).map((entry) => JSON.stringify(entry))
}
