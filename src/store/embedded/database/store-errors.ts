import { type PlaceProblem, placeProblemOf } from '../../local-file.ts'

/** The SQLite result code of an error of the driver, e.g. `SQLITE_FULL`; undefined for other errors. */
export function sqliteCodeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

/** Whether the driver says that the file is damaged, or is no database. */
export function saysDamaged(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(sqliteCodeOf(error) ?? '')
}

/** The problem of the place that an error of an open store reports. */
export function problemOfStore(error: unknown): PlaceProblem | undefined {
  const cause = error instanceof StoreFailure ? error.cause : error
  return saysDamaged(cause) ? 'damaged' : placeProblemOf(error)
}

/** The advice for a person, by the SQLite code of a class of errors. */
const STORE_WIDE: readonly (readonly [prefix: string, advice: string])[] = [
  ['SQLITE_FULL', 'the disk of its data directory is full; free some space there, writes then work again'],
  [
    'SQLITE_IOERR',
    'its disk answers with an error; look at the disk of the data directory and the system log',
  ],
  [
    'SQLITE_READONLY',
    'its data directory cannot be written; check its permissions and how its disk is mounted',
  ],
  ['SQLITE_CORRUPT', 'its database is damaged; run `waypost doctor` on the data directory'],
  ['SQLITE_NOTADB', 'its database is damaged; run `waypost doctor` on the data directory'],
  ['SQLITE_CANTOPEN', 'its files cannot be opened; check the data directory and its permissions'],
  ['SQLITE_BUSY', 'another program holds its database; stop that program'],
  ['SQLITE_LOCKED', 'another program holds its database; stop that program'],
  ['SQLITE_PROTOCOL', 'another program holds its database; stop that program'],
  ['SQLITE_PERM', 'its files cannot be used; check the permissions of the data directory'],
  ['SQLITE_NOMEM', 'memory has run out; give the server more'],
]

/**
 * A failure of the whole store. `reopen`: this connection must not be used again, because its memory and the disk differ.
 * After a full disk or an I/O error the connection is sound: the transaction was rolled back. Reopening would find it in the
 * log and treat it as committed.
 */
export class StoreFailure extends Error {
  readonly reopen: boolean

  constructor(message: string, options: { reopen: boolean; cause?: unknown }) {
    super(message, { cause: options.cause })
    this.name = 'StoreFailure'
    this.reopen = options.reopen
  }
}

/** The reason and the advice for a driver error that concerns the whole store; undefined for other errors. */
export function storeWideAdvice(error: unknown): string | undefined {
  const code = sqliteCodeOf(error)
  const found = STORE_WIDE.find(([prefix]) => code?.startsWith(prefix))
  return found === undefined ? undefined : `${found[1]} (${code})`
}

/** The failure of the whole store behind an error; undefined when one piece of data is at fault. */
export function storeFailureOf(error: unknown): StoreFailure | undefined {
  if (error instanceof StoreFailure) return error
  const advice = storeWideAdvice(error)
  if (advice === undefined) return undefined
  return new StoreFailure(`The store is not available: ${advice}`, {
    reopen: !leavesSoundConnection(sqliteCodeOf(error)),
    cause: error,
  })
}

function leavesSoundConnection(code: string | undefined): boolean {
  return code === 'SQLITE_FULL' || code?.startsWith('SQLITE_IOERR') === true
}
