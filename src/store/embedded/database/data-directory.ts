import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { DamagedStore, NotExaminable, NothingStored } from '../../local-file.ts'
import { FORMAT, markerRefusal, STORE_MARK } from './format.ts'

/** The database within a data directory. */
export function databasePath(directory: string): string {
  return join(directory, 'waypost.db')
}

/** Marks that the directory has a database, so that a lost one is noticed and not replaced by an empty one. */
export function markerPath(directory: string): string {
  return join(directory, 'waypost.json')
}

/**
 * Makes a missing directory durably, for its owner alone. Throws an Error that names the directory, with advice. It makes one
 * level after the other. Node's recursive mkdir never returns if a file system, such as /proc, answers ENOENT for a name in
 * an existing directory.
 */
export function ensureDirectory(directory: string): void {
  try {
    makeDirectory(directory)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(
      `The data directory ${directory} cannot be made: ${reason}. Choose another with --data-dir.`,
      {
        cause: error,
      },
    )
  }
}

function makeDirectory(directory: string): void {
  const found = statSync(directory, { throwIfNoEntry: false })
  if (found?.isDirectory() === true) return
  if (found !== undefined) throw new Error('there is a file of that name')
  const parent = dirname(directory)
  if (parent !== directory) makeDirectory(parent)
  mkdirSync(directory, { mode: 0o700 })
  // The new name is an entry of its parent.
  syncPath(parent)
}

/** Names that may exist in a directory into which a store is brought: earlier backups, and entries of file systems. */
export const BESIDE_A_STORE: readonly string[] = ['backups', 'lost+found']

/** Refuses a directory that exists and is not empty. Throws NotExaminable. */
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

/** Makes a missing database file. */
export function ensureDatabaseFile(path: string): void {
  // SQLite creates the database with the mode of the umask, and copies its mode to the files beside it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', OWNER_ONLY))
}

/** Whether every user of the machine may read the database, and with it the keys and the hashes of passwords. */
export function isReadableByEveryone(directory: string): boolean {
  const mayEnter = (statSync(directory).mode & OTHERS_MAY_ENTER) !== 0
  return mayEnter && (statSync(databasePath(directory)).mode & OTHERS_MAY_READ) !== 0
}

const OWNER_ONLY = 0o600
const OTHERS_MAY_READ = 0o004
const OTHERS_MAY_ENTER = 0o001

/** Whether a file exists. Throws if this user may not know. */
export function isThere(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOTDIR') return false
    throw error
  }
}

/** Refuses a directory without a database. Throws NothingStored, or DamagedStore if its marker names a lost database. */
export function refuseWithoutStore(directory: string): void {
  if (isThere(databasePath(directory))) return
  if (isThere(markerPath(directory))) throw lostDatabase(directory)
  throw new NothingStored(
    `The directory ${directory} holds no Waypost store: waypost.db and waypost.json are missing.`,
  )
}

/** Throws an Error with advice if the database is missing or the marker names another format. */
export function checkMarker(directory: string): void {
  const path = markerPath(directory)
  if (!existsSync(path)) return
  const marker = readMarker(directory)
  if (marker === undefined)
    throw new DamagedStore(`The file ${path} cannot be read; put it back from a backup, or remove it`)
  const refusal = markerRefusal(directory, marker)
  if (refusal !== undefined) throw refusal
  if (marker.copying !== undefined)
    throw new Error(
      `The data directory ${directory} is half filled by a copy of ${marker.copying.source}. Continue the copy with ` +
        '`waypost copy-store`, or remove the directory.',
    )
  const size = statSync(databasePath(directory), { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) throw lostDatabase(directory)
}

function lostDatabase(directory: string): DamagedStore {
  return new DamagedStore(
    `The data directory ${directory} belongs to a Waypost server, but its database waypost.db is missing or empty. ` +
      'Put it back from a backup, or check that the right disk is mounted; ' +
      'to start with an empty store and lose all data, remove waypost.json from the directory.',
  )
}

/** Writes the marker unless it exists, and makes it and the database's own name last. `createdMs`: of the directory. */
export function writeMarker(directory: string, createdMs: number): void {
  if (existsSync(markerPath(directory))) return
  syncPath(directory)
  replaceMarker(directory, { createdMs })
}

/** Writes or replaces the marker. `copying`: the directory is not whole yet. */
export function replaceMarker(directory: string, facts: Pick<Marker, 'createdMs' | 'copying'>): void {
  const path = markerPath(directory)
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify({ store: STORE_MARK, format: FORMAT, ...facts })}\n`, {
    mode: OWNER_ONLY,
  })
  syncPath(draft)
  renameSync(draft, path)
  syncPath(directory)
}

/** The content of the marker of a directory. */
interface Marker {
  readonly store: unknown
  readonly format: number
  /** When the directory was created. */
  readonly createdMs: unknown
  /** The copy that is filling the directory: its source, and the revision of that. */
  readonly copying?: { readonly source: string; readonly revision: number } | undefined
}

/** The marker; undefined if it is missing or damaged. Throws if this user may not read it. */
export function readMarker(directory: string): Marker | undefined {
  const path = markerPath(directory)
  if (!isThere(path)) return undefined
  const text = readFileSync(path, 'utf8')
  try {
    const marker = JSON.parse(text) as Record<string, unknown>
    const { store, format, createdMs, copying } = marker
    return typeof format === 'number'
      ? { store, format, createdMs, copying: copying as Marker['copying'] }
      : undefined
  } catch {
    return undefined
  }
}

/** Makes a file or the names in a directory last. */
export function syncPath(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
