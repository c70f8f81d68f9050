import { withChecksums, RowReader } from './row-reader.ts'
import type { SqliteConnection } from '../database/connection.ts'
import { TABLES } from './tables.ts'

/** The store's own values in the table `meta`. */
export type MetaName =
  | 'clock_high_ms'
  | 'revision_floor'
  | 'current_versions'
  | 'history_bytes'
  | 'instance_totals'
  | 'overwritten_before'
  | 'copied'
  | `server:${string}`

// All rows are read and checked: a lookup by name would miss a row with a damaged name.
const META = new RowReader(TABLES.meta)
const ALL = `SELECT ${META.columns.join(', ')} FROM meta NOT INDEXED`

/** The value of that name. Throws `DamagedRow`. */
export function readMeta(connection: SqliteConnection, name: MetaName): string | undefined {
  const rows = connection.all(ALL).map((row) => META.read(row))
  return rows.find((row) => row.name === name)?.value
}

/** Sets the value of that name; the transaction is the caller's. */
export function writeMeta(connection: SqliteConnection, name: MetaName, value: string): void {
  // A present row keeps its place, and its entry in the index: one page to write and not two.
  connection.run(
    'INSERT INTO meta (name, value, checksum) VALUES (?, ?, ?) ' +
      'ON CONFLICT (name) DO UPDATE SET value = excluded.value, checksum = excluded.checksum',
    withChecksums(TABLES.meta, TABLES.meta.encode({ name, value })),
  )
}
