import { NotExaminable, type OnProgress } from '../../local-file.ts'
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { pathToFileURL } from 'node:url'
import { SqliteConnection } from '../database/connection.ts'
import { databasePath } from '../database/data-directory.ts'
import { PAGE_BYTES } from '../database/format.ts'
import { sqliteCodeOf } from '../database/store-errors.ts'
import { type LogFacts, readLog } from './log-facts.ts'
import { isDamage } from './table-rows.ts'

/** The database of a stopped server, open for reading. */
export interface StoreFile {
  /** Its size in bytes, without the log. */
  readonly bytes: number
  /** The open database, or the reason why SQLite cannot open it. */
  readonly opened:
    | { readonly connection: SqliteConnection; readonly pageCount: number }
    | { readonly problem: string }
  /** The log beside it; undefined if it is missing or has nothing to be compared with. */
  readonly log: LogFacts | undefined
  close(): void
}

/** Opens a database that nobody else can use, such as a backup. Nothing is written. */
export function openPrivate(directory: string): StoreFile {
  const path = databasePath(directory)
  const connection = new SqliteConnection(immutable(path), { readonly: true })
  const { size: bytes } = statSync(path)
  return { bytes, opened: tryOut(connection), log: undefined, close: () => connection.close() }
}

/** How a database is copied. */
export interface CopyOptions {
  readonly copyTo: string
  /** Without a log, nothing is locked, because a lock would make a log. A server that starts meanwhile makes a log. */
  readonly isTraceless: boolean
  readonly onProgress: OnProgress
}

/**
 * Locks the database of a stopped server until `close`, copies it with its log into another directory, and opens the copy.
 * Throws NotExaminable if a server runs.
 */
export function openCopy(directory: string, { copyTo, isTraceless, onProgress }: CopyOptions): StoreFile {
  // Take the lock first: it proves that no server runs.
  const lock = new ReadLock(directory, isTraceless)
  // Closing a file lets go of the locks that this process has on it: it stays open as long as the lock.
  const source = openSync(databasePath(directory), 'r')
  let connection: SqliteConnection | undefined
  const close = () => {
    connection?.close()
    lock.close()
    closeSync(source)
  }
  try {
    const path = databasePath(copyTo)
    copyPadded(source, path, onProgress)
    if (lock.hadLog) copyFileSync(lock.log, `${path}-wal`)
    if (isTraceless && existsSync(lock.log) !== lock.hadLog) throw inUse(directory)
    connection = new SqliteConnection(path)
    const opened = tryOut(connection)
    const log = lock.hadLog && 'connection' in opened ? readLog(lock.log, framesOf(connection)) : undefined
    return { bytes: fstatSync(source).size, opened, log, close }
  } catch (error) {
    close()
    throw error
  }
}

/** Whether SQLite can read its list of tables. */
function tryOut(connection: SqliteConnection): StoreFile['opened'] {
  try {
    connection.number('SELECT count(*) FROM sqlite_schema')
    return { connection, pageCount: connection.number('PRAGMA page_count') }
  } catch (error) {
    if (isDamage(error)) return { problem: `${error.message} (${sqliteCodeOf(error)})` }
    throw error
  }
}

/** The number of valid frames in the log, which SQLite copies into the file. */
function framesOf(connection: SqliteConnection): number {
  return Number(connection.first('PRAGMA wal_checkpoint(PASSIVE)')?.[1])
}

const BLOCK_BYTES = 1024 * 1024
/** File systems have no longer files: a header with a larger size is damaged. */
const MOST_BYTES = 2 ** 43

/** Copies a database, and adds zeros up to the length in its header: SQLite opens no shorter file. */
function copyPadded(source: number, to: string, onProgress: OnProgress): void {
  const target = openSync(to, 'wx', 0o600)
  const block = Buffer.alloc(BLOCK_BYTES)
  const { size } = fstatSync(source)
  try {
    let at = 0
    for (let read = -1; read !== 0; at += read) {
      read = readSync(source, block, 0, BLOCK_BYTES, at)
      writeSync(target, block, 0, read, at)
      onProgress('copying', at, size)
    }
    const length = lengthInHeader(source)
    if (length > at && length < MOST_BYTES) ftruncateSync(target, length)
  } finally {
    closeSync(target)
  }
}

/** See SQLite's file format, "The Database Header". */
function lengthInHeader(file: number): number {
  const header = Buffer.alloc(100)
  readSync(file, header, 0, header.length, 0)
  const isHeader = header.toString('latin1', 0, 15) === 'SQLite format 3'
  return isHeader ? header.readUInt32BE(28) * PAGE_BYTES : 0
}

/** The lock on a stopped server's database, which keeps servers from starting. Throws NotExaminable if a server runs. */
class ReadLock {
  readonly #connection: SqliteConnection | undefined
  readonly log: string
  readonly hadLog: boolean

  constructor(directory: string, isTraceless: boolean) {
    this.log = `${databasePath(directory)}-wal`
    this.hadLog = existsSync(this.log)
    if (isTraceless && !this.hadLog) return
    try {
      this.#connection = lockedReadOnly(databasePath(directory))
    } catch (error) {
      const code = sqliteCodeOf(error) ?? ''
      if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) throw inUse(directory)
      // A database that SQLite cannot open has no server either.
    }
  }

  /** Releases the database, but first removes an empty log that the lock may have made, while nobody else can use it. */
  close(): void {
    const madeLog = this.#connection !== undefined && !this.hadLog && existsSync(this.log)
    if (madeLog && statSync(this.log).size === 0) unlinkSync(this.log)
    this.#connection?.close()
  }
}

/**
 * Taking the lock creates a missing log. A read-only directory does not allow that: then SQLite opens the file as one that
 * nobody writes.
 */
function lockedReadOnly(path: string): SqliteConnection {
  const count = 'SELECT count(*) FROM sqlite_schema'
  try {
    const connection = new SqliteConnection(path, { readonly: true })
    connection.exec('PRAGMA locking_mode = EXCLUSIVE')
    connection.number(count)
    return connection
  } catch (error) {
    if (sqliteCodeOf(error)?.startsWith('SQLITE_CANTOPEN') !== true) throw error
    const connection = new SqliteConnection(immutable(path), { readonly: true })
    connection.number(count)
    return connection
  }
}

function immutable(path: string): string {
  return `${pathToFileURL(path).href}?immutable=1`
}

function inUse(directory: string): NotExaminable {
  return new NotExaminable(
    `The data directory ${directory} is in use by a running server. Stop the server first, or look at a backup of it: ` +
      '`waypost backup --server` makes one while it runs.',
  )
}
