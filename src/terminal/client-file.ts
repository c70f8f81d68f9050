import { chmodSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '../command/command-line.ts'
import { readingError } from '../command/system-errors.ts'

/** A server that the user works with, under a name. */
export interface Context {
  /** The address, without a slash at its end. */
  readonly server: string
  readonly namespace?: string
  readonly username?: string
  readonly token?: string
  /** When the token is renewed, and when it ends, epoch milliseconds. */
  readonly renewMs?: number
  readonly expiresMs?: number
}

/** The contents of the user's file. */
export interface ClientFile {
  /** The context of commands that name no context; empty: no context. */
  readonly current: string
  readonly contexts: ReadonlyMap<string, Context>
}

const NOTHING: ClientFile = { current: '', contexts: new Map() }

/** The file with the contexts: WAYPOST_CLIENT_FILE, or `waypost/client.json` in the directory for settings of programs. */
function clientFilePath(): string {
  const { WAYPOST_CLIENT_FILE: given, XDG_CONFIG_HOME: directory } = process.env
  return given || join(directory || join(homedir(), '.config'), 'waypost', 'client.json')
}

/** Reads the file. Throws UsageError if others may read it, because it has tokens, or if it is no such file. */
export function readClientFile(): ClientFile {
  const path = clientFilePath()
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return NOTHING
    const why = readingError(path, error as Error)
    throw new UsageError(`The file of contexts cannot be used: ${why}`, { cause: error })
  }
  if (process.platform !== 'win32' && (statSync(path).mode & 0o077) !== 0)
    throw new UsageError(`Other users may read ${path}, which has tokens. Say: chmod 600 ${path}`)
  try {
    const { current, contexts } = JSON.parse(text) as { current: string; contexts: Record<string, Context> }
    return { current, contexts: new Map(Object.entries(contexts)) }
  } catch (cause) {
    throw new UsageError(`${path} is damaged: ${(cause as Error).message}. Remove it and sign in again.`, {
      cause,
    })
  }
}

/** Writes the file, for its owner alone. Other processes read the old file or the new file, never a part. */
export function writeClientFile({ current, contexts }: ClientFile): void {
  const path = clientFilePath()
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.${process.pid}.part`
  const text = `${JSON.stringify({ current, contexts: Object.fromEntries(contexts) }, undefined, 2)}\n`
  writeFileSync(part, text, { mode: 0o600 })
  // A file of an earlier process that ended here may have another mode.
  chmodSync(part, 0o600)
  renameSync(part, path)
}

/** Puts a context into the file; replaces a context of that name. */
export function saveContext(name: string, context: Context, { makeCurrent }: { makeCurrent: boolean }): void {
  const { current, contexts } = readClientFile()
  writeClientFile({
    current: makeCurrent ? name : current,
    contexts: new Map([...contexts, [checkedContextName(name), context]]),
  })
}

/** The name of a context. Throws UsageError for a name that nobody could type. */
export function checkedContextName(name: string): string {
  if (/^[A-Za-z0-9][\w.-]{0,63}$/.test(name) && name !== '__proto__') return name
  throw new UsageError('The name of a context has letters, digits and . _ -, 64 at most.')
}
