import { NotExaminable } from '../../local-file.ts'
import { existsSync, statSync, unlinkSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { SqliteConnection } from '../connection.ts'
import { databasePath } from '../data-directory.ts'
import { hasWholeSchema } from '../schema-shape.ts'
import { sqliteCodeOf } from '../store-errors.ts'
import type { Findings } from './finding.ts'

const MOST_MESSAGES = 20

/** Whether others may use the directory that is examined. */
export type Access = 'shared' | 'private'

/**
 * The lock on a stopped server's database, taken without writing: a server cannot start while it is held. Throws
 * NotExaminable where a server runs.
 */
export class ReadLock {
  #connection: SqliteConnection | undefined
  readonly #log: string
  readonly #hadLog: boolean
  readonly #problem: string | undefined

  /** `access` is `private` where nobody else can use the directory; then it needs no lock. */
  constructor(directory: string, access: Access) {
    this.#log = `${databasePath(directory)}-wal`
    this.#hadLog = existsSync(this.#log)
    try {
      this.#connection = connectReadOnly(databasePath(directory), access)
      this.#connection.number('SELECT count(*) FROM sqlite_schema')
    } catch (error) {
      const code = sqliteCodeOf(error) ?? ''
      if (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED')) throw inUse(directory)
      // A database that SQLite cannot open has no server either.
      this.#problem = `${error instanceof Error ? error.message : String(error)} (${code})`
    }
  }

  /**
   * What SQLite itself says of the structure of its file and of the indexes; and whether its list of tables is that of
   * this format, where the file is of it.
   */
  check(findings: Findings, isOfThisFormat: boolean): void {
    for (const message of this.#messages()) {
      findings.damage('waypost.db', {
        problem: `SQLite says: ${message}.`,
        effect: effectOf(message),
        remedy: 'All tables and indexes are rebuilt from the sound rows.',
      })
    }
    if (isOfThisFormat && !this.#hasTables())
      findings.damage('waypost.db', {
        problem: 'Its list of tables is not what Waypost writes.',
        effect: 'The server does not start.',
        remedy: 'All tables are rebuilt from the sound rows.',
      })
  }

  /** Lets the database go, and takes away the empty log that locking it may have made: while nobody else can use it. */
  close(): void {
    const madeLog = this.#connection !== undefined && !this.#hadLog && existsSync(this.#log)
    if (madeLog && statSync(this.#log).size === 0) unlinkSync(this.#log)
    this.#connection?.close()
    this.#connection = undefined
  }

  #hasTables(): boolean {
    // A file that cannot be opened is reported already.
    if (this.#problem !== undefined || this.#connection === undefined) return true
    try {
      return hasWholeSchema(this.#connection)
    } catch {
      return false
    }
  }

  #messages(): string[] {
    if (this.#problem !== undefined) return [this.#problem]
    try {
      const rows = this.#connection?.all(`PRAGMA integrity_check(${MOST_MESSAGES})`) ?? []
      return rows.flatMap(([text]) => String(text).split('\n')).filter((text) => text !== 'ok' && text !== '')
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    }
  }
}

/**
 * Taking the lock makes an empty log where there is none. That cannot be done in a directory that is read-only, and
 * need not be in one of our own: there SQLite opens the file as one that nobody writes.
 */
function connectReadOnly(path: string, access: Access): SqliteConnection {
  const immutable = () => new SqliteConnection(`${pathToFileURL(path).href}?immutable=1`, { readonly: true })
  if (access === 'private') return immutable()
  try {
    const connection = new SqliteConnection(path, { readonly: true })
    connection.exec('PRAGMA locking_mode = EXCLUSIVE')
    connection.number('SELECT count(*) FROM sqlite_schema')
    return connection
  } catch (error) {
    if (sqliteCodeOf(error)?.startsWith('SQLITE_CANTOPEN') !== true) throw error
    return immutable()
  }
}

function inUse(directory: string): NotExaminable {
  return new NotExaminable(
    `The data directory ${directory} is in use by a running server. Stop the server first, or look at a backup of it: ` +
      '`waypost backup --url` makes one while it runs.',
  )
}

function effectOf(message: string): string {
  if (/index/i.test(message)) return 'Look-ups over the index can miss rows or fail.'
  return 'Reading what lies there fails, or gives what was not written.'
}
