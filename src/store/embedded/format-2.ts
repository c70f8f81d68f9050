import type { Connection } from './connection.ts'
import { newestRevision, VersionSums } from './current-versions.ts'
import { RowReader } from './row-reader.ts'
import { DamagedRow, TABLES } from './tables.ts'

// Formats 1 and 2 have the tables of format 3 (but for `instance` in format 1). In them every version of an item was
// written with its row, so `revision_id` of `config_item` is the current version itself; and there were no sums.

const ITEMS = new RowReader(TABLES.config_item)

/**
 * The sums of all current versions. Throws `DamagedRow` where an item does not stand at the newest version of its name:
 * once the row no longer says which one it was, nobody could tell.
 */
export function versionSumsOfFormat2(connection: Connection): VersionSums {
  const sums = new VersionSums()
  const columns = [...ITEMS.columns, newestRevision('config_item.name_id')]
  for (const read of connection.each(`SELECT ${columns.join(', ')} FROM config_item`)) {
    const [nameId, , revisionId] = ITEMS.read(read.slice(0, -1))
    const newest = read.at(-1)
    if (newest !== revisionId) {
      const problem = `it stands at the version ${revisionId}, and the newest one found for it is ${newest}`
      throw new DamagedRow('config_item', String(nameId), problem)
    }
    sums.move(Number(nameId), 0, Number(revisionId))
  }
  return sums
}
