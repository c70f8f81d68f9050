import { statSync } from 'node:fs'
import { SqliteConnection } from '../database/connection.ts'
import {
  checkMarker,
  databasePath,
  ensureDatabaseFile,
  ensureDirectory,
  writeMarker,
} from '../database/data-directory.ts'
import { VersionSums, writeVersionSums } from '../rows/current-versions.ts'
import { DamagedStore } from '../../local-file.ts'
import { APPLICATION_ID, databaseRefusal, FORMAT, PAGE_BYTES } from '../database/format.ts'
import { SCHEMA } from '../database/schema.ts'
import { hasWholeSchema } from '../database/schema-shape.ts'
import { saysDamaged, sqliteCodeOf, storeWideAdvice } from '../database/store-errors.ts'

/** Pages of the log between checkpoints: more makes rarer but longer stalls. */
export const AUTOCHECKPOINT = 'PRAGMA wal_autocheckpoint = 1500'

/**
 * Opens the database of a data directory as its only user; makes missing ones. Throws an Error that names the directory:
 * in use, database lost, another format, not ours.
 */
export function openDatabase(directory: string): SqliteConnection {
  ensureDirectory(directory)
  checkMarker(directory)
  const connection = connect(directory)
  try {
    takeLock(connection)
    prepareSchema(connection, directory)
  } catch (error) {
    connection.close()
    throw openingError(directory, error)
  }
  writeMarker(directory, Date.now())
  return connection
}

/** The driver's own message for a file that cannot be opened says too little. */
function connect(directory: string): SqliteConnection {
  const path = databasePath(directory)
  try {
    ensureDatabaseFile(path)
    return new SqliteConnection(path)
  } catch (cause) {
    throw new Error(
      `The database in the data directory ${directory} cannot be opened: may this user read and write there?`,
      { cause },
    )
  }
}

/** Takes the exclusive lock on the file, which keeps a second server out of the directory. */
function takeLock(connection: SqliteConnection): void {
  // The size of a page can be chosen only before the file has any.
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  connection.exec('PRAGMA locking_mode = EXCLUSIVE')
  connection.exec('BEGIN EXCLUSIVE; COMMIT')
}

function prepareSchema(connection: SqliteConnection, directory: string): void {
  const isNew = connection.number('SELECT count(*) FROM sqlite_schema') === 0
  if (!isNew) checkFormat(connection, directory)
  connection.exec('PRAGMA journal_mode = WAL')
  connection.exec('PRAGMA synchronous = FULL')
  connection.exec(AUTOCHECKPOINT)
  if (isNew) createTables(connection)
  if (!hasWholeSchema(connection)) throw damagedSchema(directory)
}

function checkFormat(connection: SqliteConnection, directory: string): void {
  const applicationId = connection.number('PRAGMA application_id')
  const format = connection.number('PRAGMA user_version')
  const refusal = databaseRefusal(directory, { applicationId, format })
  if (refusal !== undefined) throw refusal
  if (format < FORMAT) throw damagedSchema(directory)
  if (endsInsideAPage(directory)) throw cutOff(directory)
}

function createTables(connection: SqliteConnection): void {
  connection.transaction(() => {
    connection.exec(SCHEMA)
    writeVersionSums(connection, new VersionSums())
    connection.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FORMAT}`)
  })
  // The marker promises a database that is not empty; pages in the log alone do not count.
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)')
}

/**
 * Whether somebody has cut the file within a page: SQLite reads the rest as zeros, and a record can be missing without
 * an error. While the log has frames, an unfinished checkpoint may have left such an end: the log has the page.
 */
function endsInsideAPage(directory: string): boolean {
  const path = databasePath(directory)
  const logBytes = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return logBytes === 0 && statSync(path).size % PAGE_BYTES !== 0
}

function cutOff(directory: string): DamagedStore {
  return new DamagedStore(
    `The database in the data directory ${directory} is damaged: the file waypost.db has been cut off, its last page is not whole. ` +
      'Run `waypost doctor` on it, or put back a backup.',
  )
}

function damagedSchema(directory: string): DamagedStore {
  return new DamagedStore(
    `The database in the data directory ${directory} is damaged: its format or its tables are not those that Waypost writes. ` +
      'Run `waypost doctor` on it, or put back a backup.',
  )
}

function openingError(directory: string, error: unknown): unknown {
  const code = sqliteCodeOf(error)
  if (code === undefined) return error
  if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) {
    return new Error(
      `The data directory ${directory} is in use: another Waypost server is using it. ` +
        'Stop that one, or choose another data directory.',
      { cause: error },
    )
  }
  const text = `The database in the data directory ${directory} cannot be opened: ${storeWideAdvice(error) ?? code}`
  return saysDamaged(error) ? new DamagedStore(text, { cause: error }) : new Error(text, { cause: error })
}
