import type { Connection } from './connection.ts'
import { withChecksum } from './row-writer.ts'
import { TABLES, verifiedRow } from './tables.ts'

/** The store's own values in the table `meta`. */
export type MetaName =
  | 'clock_high_ms'
  | 'revision_floor'
  | 'switches'
  | 'overwritten_before'
  | `server:${string}`

/** The value of that name. Throws `DamagedRow`. */
export function readMeta(connection: Connection, name: MetaName): string | undefined {
  const row = connection.first('SELECT name, value, checksum FROM meta WHERE name = ?', [name])
  return row === undefined ? undefined : String(verifiedRow(TABLES.meta, row)[1])
}

/** Sets the value of that name; the transaction is the caller's. */
export function writeMeta(connection: Connection, name: MetaName, value: string): void {
  connection.run(
    'INSERT OR REPLACE INTO meta (name, value, checksum) VALUES (?, ?, ?)',
    withChecksum(TABLES.meta, [name, value]),
  )
}
