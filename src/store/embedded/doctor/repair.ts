import { NotExaminable, type OnProgress, type Repaired } from '../../local-file.ts'
import { mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SqliteConnection } from '../database/connection.ts'
import { sumCurrentVersions, writeVersionSums } from '../rows/current-versions.ts'
import {
  databasePath,
  ensureDatabaseFile,
  ensureDirectory,
  syncPath,
  writeMarker,
} from '../database/data-directory.ts'
import { APPLICATION_ID, FORMAT, PAGE_BYTES } from '../database/format.ts'
import { forgetHistorySize } from '../history/history-size.ts'
import { renewTotals } from '../rows/instance-totals.ts'
import { writeMeta } from '../rows/meta.ts'
import { RowWriter } from '../rows/row-writer.ts'
import { SCHEMA } from '../database/schema.ts'
import type { Table } from '../rows/table.ts'
import { TABLE_NAMES, type TableName, TABLES } from '../rows/tables.ts'
import { examine, type Examined } from './examine.ts'
import { RepairedRows } from './repaired-rows.ts'

/** Rows between commits: what one transaction holds in memory stays small. */
const ROWS_PER_COMMIT = 5_000

/** Refuses a place that is there and not empty. Throws NotExaminable. */
export function refuseUsedDirectory(directory: string, allowed: readonly string[] = []): void {
  const names = entriesOf(directory).filter((name) => !allowed.includes(name))
  if (names.length === 0) return
  throw new NotExaminable(
    `The directory ${directory} is not empty (${names[0]} is in it). Name one that is new or empty.`,
  )
}

function entriesOf(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    if (code === 'ENOTDIR') throw new NotExaminable(`${directory} is not a directory.`)
    throw error
  }
}

/**
 * Writes what can be saved of an examined store into a new directory, as its plan says. The database gets its name
 * when it is whole and on the disk; nothing is left behind where writing fails. Throws NotExaminable.
 */
export function repair(
  { found, examination }: Examined,
  directory: string,
  onProgress: OnProgress,
): Repaired {
  if (found === undefined)
    throw new NotExaminable('There is nothing to repair: nothing of the database can be read.')
  refuseUsedDirectory(directory)
  ensureDirectory(directory)
  const draft = draftIn(directory)
  try {
    mkdirSync(draft, { mode: 0o700 })
    const path = databasePath(draft)
    const rows = writeDatabase(path, new RepairedRows(found, examination.counts.damage > 0), onProgress)
    syncPath(path)
    renameSync(path, databasePath(directory))
    rmSync(draft, { recursive: true })
    writeMarker(directory, Date.now())
    return { directory, rows }
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}

/** Where a repair writes until everything is written. */
export function draftIn(directory: string): string {
  return join(directory, '.repair')
}

/** Throws an Error where the store that a repair has written is not sound. */
export function verifyRepaired(directory: string, onProgress: OnProgress): void {
  const { counts, findings } = examine(directory, { copyTo: undefined, onProgress })
  if (counts.damage === 0) return
  throw new Error(
    `The repaired store in ${directory} still has ${counts.damage} findings, the first: ` +
      `${findings[0]?.place}: ${findings[0]?.problem} Restore a backup instead.`,
  )
}

function writeDatabase(path: string, rows: RepairedRows, onProgress: OnProgress): Repaired['rows'] {
  ensureDatabaseFile(path)
  const connection = new SqliteConnection(path)
  try {
    // A draft needs no journal: it is thrown away where something fails, and synced when it is whole.
    connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA synchronous = OFF`)
    connection.exec('PRAGMA journal_mode = OFF')
    connection.exec(SCHEMA)
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`)
    const counts = writeRows(connection, rows, onProgress)
    connection.exec('BEGIN')
    for (const [name, value] of rows.metaToSet()) writeMeta(connection, name, value)
    writeVersionSums(connection, sumCurrentVersions(connection))
    renewTotals(connection)
    forgetHistorySize(connection)
    connection.exec('COMMIT')
    return counts
  } finally {
    connection.close()
  }
}

function writeRows(
  connection: SqliteConnection,
  rows: RepairedRows,
  onProgress: OnProgress,
): Repaired['rows'] {
  const writers = new Map(TABLE_NAMES.map((name) => [name, new RowWriter(connection, TABLES[name])]))
  const counts: Partial<Record<TableName, number>> = {}
  const commit = () => {
    for (const writer of writers.values()) writer.flush()
    connection.exec('COMMIT')
  }
  let inTransaction = 0
  connection.exec('BEGIN')
  for (const { table, row } of rows.all(onProgress)) {
    writers.get(table)?.add((TABLES[table] as Table<typeof row>).encode(row))
    counts[table] = (counts[table] ?? 0) + 1
    if (++inTransaction % ROWS_PER_COMMIT > 0) continue
    commit()
    connection.exec('BEGIN')
  }
  commit()
  return counts
}
