import type { Connection } from './connection.ts'
import { writeVersionSums } from './current-versions.ts'
import { INSTANCE_OF_FORMAT_1, INSTANCE_TO_FORMAT_2, instanceOfFormat1 } from './format-1.ts'
import { versionSumsOfFormat2 } from './format-2.ts'
import { readMeta } from './meta.ts'
import { RowReader } from './row-reader.ts'
import { RowWriter } from './row-writer.ts'
import { FORMAT } from './schema.ts'
import { DamagedRow, TABLES } from './tables.ts'

/**
 * Brings a database of an older format to this one, in one transaction: after a crash it is of the old format or of
 * the new. Throws `DamagedRow`, and then changes nothing.
 */
export function migrate(connection: Connection, format: number): void {
  // Nothing is made of a number that a bit has flipped in.
  if (readMeta(connection, 'current_versions') !== undefined) {
    throw new DamagedRow(
      'meta',
      'current_versions',
      `the file says that it has format ${format}, which has no such row`,
    )
  }
  connection.transaction(() => {
    if (format < 2) migrateInstances(connection)
    if (format < 3) writeVersionSums(connection, versionSumsOfFormat2(connection))
    connection.exec(`PRAGMA user_version = ${FORMAT}`)
  })
}

/** The table is emptied and changed, not made anew: in every file a table begins at the same page (`catalog.ts`). */
function migrateInstances(connection: Connection): void {
  const reader = new RowReader(INSTANCE_OF_FORMAT_1)
  const read = connection.all(`SELECT ${reader.columns.join(', ')} FROM instance`)
  const rows = read.map((row) => instanceOfFormat1(reader.read(row)))
  connection.exec(INSTANCE_TO_FORMAT_2)
  const writer = new RowWriter(connection, TABLES.instance)
  for (const row of rows) writer.add(row)
  writer.flush()
}
