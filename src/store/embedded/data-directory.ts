import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
} from 'node:fs'
import { writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FORMAT } from './schema.ts'

/** The database within a data directory. */
export function databasePath(directory: string): string {
  return join(directory, 'waypost.db')
}

/** Says that the directory has a database, so that a lost one is noticed and not silently made anew. */
export function markerPath(directory: string): string {
  return join(directory, 'waypost.json')
}

/**
 * Makes the directory where it is missing, for its owner alone, and makes that last. Throws an Error that names the
 * directory and says what to do. Step by step: node's recursive mkdir never returns where a file system, such as
 * /proc, answers ENOENT for a name in a directory that is there.
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
  // The new name stands in its parent.
  syncPath(parent)
}

/**
 * Refuses a directory whose database has gone or whose marker speaks of a newer format.
 * Throws an Error that names the directory and says what to do.
 */
export function checkMarker(directory: string): void {
  const path = markerPath(directory)
  if (!existsSync(path)) return
  const { format } = markerOf(path)
  if (format > FORMAT) throw newerFormat(directory, format)
  const size = statSync(databasePath(directory), { throwIfNoEntry: false })?.size ?? 0
  if (size > 0) return
  throw new Error(
    `The data directory ${directory} belongs to a Waypost server, but its database waypost.db is missing or empty. ` +
      'Put it back from a backup, or check that the right disk is mounted; ' +
      'to begin anew and lose what was stored, remove waypost.json from the directory.',
  )
}

/** The refusal of a directory that a later version has written. */
export function newerFormat(directory: string, format: number): Error {
  return new Error(
    `The data directory ${directory} has format ${format}, and this version of Waypost reads formats up to ` +
      `${FORMAT}. Start the version that wrote it, or a later one.`,
  )
}

/**
 * Writes the marker unless it is there and has this format, and makes it and the database's own name last. `nowMs`
 * is when the directory was made, unless the marker knows that.
 */
export function writeMarker(directory: string, nowMs: number): void {
  const path = markerPath(directory)
  const marker = existsSync(path) ? markerOf(path) : { format: 0, createdMs: nowMs }
  if (marker.format === FORMAT) return
  syncPath(directory)
  const draft = `${path}.new`
  writeFileSync(draft, `${JSON.stringify({ ...marker, format: FORMAT })}\n`)
  syncPath(draft)
  renameSync(draft, path)
  syncPath(directory)
}

function markerOf(path: string): { format: number; createdMs?: unknown } {
  try {
    const marker = JSON.parse(readFileSync(path, 'utf8')) as { format?: unknown }
    const { format } = marker
    if (typeof format === 'number') return { ...marker, format }
  } catch (cause) {
    throw new Error(`The file ${path} cannot be read; put it back from a backup, or remove it`, { cause })
  }
  throw new Error(`The file ${path} names no format; put it back from a backup, or remove it`)
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
