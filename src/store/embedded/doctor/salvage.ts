import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { stampOfId } from '../../../core/decisions/stamps.ts'
import type { OnProgress } from '../../local-file.ts'
import { SqliteConnection } from '../database/connection.ts'
import {
  BESIDE_A_STORE,
  databasePath,
  ensureDatabaseFile,
  ensureDirectory,
  refuseUsedDirectory,
  syncPath,
  writeMarker,
} from '../database/data-directory.ts'
import { APPLICATION_ID, FORMAT, PAGE_BYTES } from '../database/format.ts'
import { SCHEMA } from '../database/schema.ts'
import { HistorySize } from '../history/history-size.ts'
import { sumCurrentVersions, writeVersionSums } from '../rows/current-versions.ts'
import { renewTotals } from '../rows/instance-totals.ts'
import { type MetaName, readMeta, writeMeta } from '../rows/meta.ts'
import { RowWriter } from '../rows/row-writer.ts'
import type { Table } from '../rows/table.ts'
import { TABLE_NAMES, TABLES } from '../rows/tables.ts'
import type { Examined } from './examine.ts'
import { contentMd5, type Inventory, recordProblem } from './inventory.ts'
import type { AnyRow } from './store-rows.ts'

/** Rows between commits, so that one transaction holds little in memory. */
const ROWS_PER_COMMIT = 5_000
/** How many stamps a lost counter may have given out above the highest one found. */
const FLOOR_MARGIN = 10_000
/** Values of the table `meta` that are computed from the rows that are written. */
const TOTALS: readonly string[] = [
  'current_versions',
  'instance_totals',
  'history_bytes',
] satisfies MetaName[]

type Found = NonNullable<Examined['found']>

/**
 * Copies every sound row that breaks no rule into a new directory. The database gets its name when it is whole and on
 * the disk; a failed write leaves nothing behind. Throws NotExaminable for a directory that is not empty.
 */
export function salvage(found: Found, directory: string, onProgress: OnProgress): void {
  refuseUsedDirectory(directory, BESIDE_A_STORE)
  ensureDirectory(directory)
  const draft = draftIn(directory)
  try {
    mkdirSync(draft, { mode: 0o700 })
    const path = databasePath(draft)
    writeDatabase(path, found, onProgress)
    syncPath(path)
    renameSync(path, databasePath(directory))
    rmSync(draft, { recursive: true })
    writeMarker(directory, Date.now())
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** The directory of a salvage until everything is written. */
export function draftIn(directory: string): string {
  return join(directory, '.salvage')
}

function writeDatabase(path: string, found: Found, onProgress: OnProgress): void {
  ensureDatabaseFile(path)
  const connection = new SqliteConnection(path)
  try {
    // A draft needs no journal: it is deleted after a failure, and synced when it is whole.
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = OFF`)
    connection.exec('PRAGMA journal_mode = OFF')
    connection.exec(SCHEMA)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}; BEGIN`)
    writeRows(connection, found, onProgress)
    writeTotals(connection, found.inventory)
    connection.exec('COMMIT')
  } finally {
    connection.close()
  }
}

/** Writes within an open transaction, and leaves a transaction open. */
function writeRows(connection: SqliteConnection, found: Found, onProgress: OnProgress): void {
  const writers = new Map(TABLE_NAMES.map((name) => [name, new RowWriter(connection, TABLES[name])]))
  // Below two pages, or in an old page outside of all trees: the first of two rows counts.
  const written = new Set<string>()
  let count = 0
  for (const { table, row } of soundRows(found, onProgress)) {
    const definition = TABLES[table] as Table<typeof row>
    const { key, checked } = definition
    const values = definition.encode(row)
    if (found.isDamaged) {
      const name = JSON.stringify([table, ...key.map((column) => values[checked.indexOf(column)])])
      if (written.has(name)) continue
      written.add(name)
    }
    writers.get(table)?.add(values)
    if (++count % ROWS_PER_COMMIT === 0) connection.exec('COMMIT; BEGIN')
  }
  for (const writer of writers.values()) writer.flush()
}

/** The rows that a salvage copies. In a damaged file a row may come twice. */
export function* soundRows(
  { rows, ...found }: Omit<Found, 'isDamaged'>,
  onProgress: OnProgress,
): Generator<AnyRow> {
  for (const read of rows.read('writing rows', onProgress)) {
    const row = read.kind === 'row' ? keptRow(read.stored, found) : undefined
    if (row !== undefined) yield row
  }
}

/** The row for the copy; undefined if it is left out. */
function keptRow(
  stored: AnyRow,
  { inventory, leftOut }: Pick<Found, 'inventory' | 'leftOut'>,
): AnyRow | undefined {
  switch (stored.table) {
    case 'meta':
      return TOTALS.includes(stored.row.name) ? undefined : stored
    case 'config_name':
      // Two rows with one name: the other row was removed before.
      return inventory.names.has(stored.row.id) ? stored : undefined
    case 'config_item': {
      const { nameId, revisionId } = stored.row
      // The later of two rows of an item counts.
      if (inventory.items.get(nameId)?.revisionId !== revisionId) return undefined
      if (leftOut.names.has(nameId) || leftOut.items.has(nameId)) return undefined
      const current = Math.min(revisionId, leftOut.current.get(nameId) ?? revisionId)
      return { table: 'config_item', row: { ...stored.row, revisionId: current } }
    }
    case 'config_revision': {
      const { row } = stored
      if (leftOut.names.has(row.nameId) || leftOut.versions.has(row.id)) return undefined
      const hidden = row.hidden || leftOut.hidden.has(row.id)
      return { table: 'config_revision', row: { ...row, hidden, md5: contentMd5(row) ?? row.md5 } }
    }
    case 'instance':
      return leftOut.instances.has(stored.row.serial) ? undefined : stored
    case 'record':
      return recordProblem(stored.row) === undefined ? stored : undefined
    case 'service':
    case 'audit':
      return stored
  }
}

/** Writes the totals of the rows, and counters so high that no id and no time is given out twice. */
function writeTotals(connection: SqliteConnection, { highestId, latestMs }: Inventory): void {
  const numberOf = (name: MetaName): number => Number(readMeta(connection, name) ?? 0) || 0
  const floor = Math.max(numberOf('revision_floor'), stampOfId(highestId))
  writeMeta(connection, 'revision_floor', String(floor + FLOOR_MARGIN))
  writeMeta(connection, 'clock_high_ms', String(Math.max(numberOf('clock_high_ms'), latestMs)))
  writeVersionSums(connection, sumCurrentVersions(connection))
  renewTotals(connection)
  new HistorySize(connection).write()
}
