import { SqliteConnection, type SqlValue } from './connection.ts'
import { PAGE_BYTES } from './format.ts'
import { LATER_SCHEMA, LATER_TABLES, SCHEMA } from './schema.ts'

// As digits, because a text of a damaged file may be no text: see `row-reader.ts`.
const SHAPE = `
  SELECT hex(entry.type), hex(entry.name), CAST(entry.rootpage AS INTEGER), (
    SELECT group_concat(hex(name) || ' ' || hex(type) || ' ' || "notnull" || pk) FROM pragma_table_info(entry.name)
  ), (
    SELECT group_concat(hex(name)) FROM pragma_index_info(entry.name)
  )
  FROM sqlite_schema AS entry`

/**
 * Whether a database has the tables, indexes, columns and first pages that this version makes. The first tables begin at the
 * same pages in every file; later tables may be missing, or begin anywhere. Other tables do not matter.
 */
export function hasWholeSchema(connection: SqliteConnection): boolean {
  const found = shapeOf(connection)
  return withFreshTables((fresh) =>
    shapeOf(fresh).every((entry) => {
      const own = found.find(({ name }) => name === entry.name)
      if (own?.shape !== entry.shape) return entry.isLater && own === undefined
      return entry.isLater ? isAlone(own, found) : own.place === entry.place
    }),
  )
}

/** Reads from a new and empty database in memory. */
function withFreshTables<T>(read: (connection: SqliteConnection) => T): T {
  const connection = new SqliteConnection(':memory:')
  try {
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
    connection.exec(SCHEMA + LATER_SCHEMA)
    return read(connection)
  } finally {
    connection.close()
  }
}

/** Whether files of earlier builds lack this table. */
export function isLaterTable(name: string): boolean {
  return LATER_TABLES.includes(name)
}

/** A table or an index; `name` in hexadecimal digits. */
interface Entry {
  readonly name: string
  readonly place: number
  /** Its kind, name and columns. */
  readonly shape: string
  readonly isLater: boolean
}

function shapeOf(connection: SqliteConnection): Entry[] {
  return connection.all(SHAPE).map(([kind, name, place, ...columns]: SqlValue[]) => ({
    name: String(name),
    place: Number(place),
    shape: JSON.stringify([kind, name, ...columns]),
    isLater: isLaterTable(Buffer.from(String(name), 'hex').toString()),
  }))
}

/** Whether no other tree begins at the same page: such a tree would return this table's rows. */
function isAlone(entry: Entry, all: readonly Entry[]): boolean {
  return all.every((other) => other === entry || other.place !== entry.place)
}
