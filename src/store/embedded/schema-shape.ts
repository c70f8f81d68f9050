import { SqliteConnection, type SqlValue } from './connection.ts'
import { PAGE_BYTES } from './file/database-file.ts'
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
 * Whether the tables and indexes of a database, their columns and the places where they begin are those that this
 * version makes: in every file they begin at the same pages. What else is in the file does not matter.
 */
export function hasWholeSchema(connection: SqliteConnection): boolean {
  const found = shapeOf(connection)
  return withFreshTables(shapeOf).every((entry) => found.includes(entry))
}

/** Reads from a new and empty database in memory. */
export function withFreshTables<T>(read: (connection: SqliteConnection) => T): T {
  const connection = new SqliteConnection(':memory:')
  try {
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    connection.exec(SCHEMA)
    return read(connection)
  } finally {
    connection.close()
  }
}

function shapeOf(connection: SqliteConnection): string[] {
  return connection.all(SHAPE).map((entry: SqlValue[]) => JSON.stringify(entry))
}
