import { type BackupFacts, DamagedStore, NothingStored, type OnProgress } from '../../local-file.ts'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '../database/data-directory.ts'

const BLOCK_BYTES = 1024 * 1024

/** The facts of the backup in a directory. Throws NothingStored without a backup, and DamagedStore. */
export function readFacts(directory: string): BackupFacts {
  const facts = parsed(factsText(directory)) as Partial<BackupFacts> | null
  if (typeof facts?.size === 'number' && typeof facts.sha256 === 'string') return facts as BackupFacts
  throw new DamagedStore(
    `The directory ${directory} holds no whole backup: backup.json does not say what it should.`,
  )
}

/** The text of backup.json. Throws errors of the file system if the file exists and cannot be read. */
function factsText(directory: string): string {
  try {
    return readFileSync(join(directory, 'backup.json'), 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw cause
    throw new NothingStored(`The directory ${directory} holds no whole backup: backup.json is missing.`, {
      cause,
    })
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

/** Writes the facts, on the disk when it returns. */
export function writeFacts(directory: string, facts: BackupFacts): void {
  const path = join(directory, 'backup.json')
  writeFileSync(path, `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 })
  syncPath(path)
}

/** The sha256 of a file, in hex. */
export function sha256OfFile(path: string, step: string, onProgress: OnProgress): string {
  const hash = createHash('sha256')
  const file = openSync(path, 'r')
  const block = Buffer.allocUnsafe(BLOCK_BYTES)
  try {
    let done = 0
    for (let read = readSync(file, block); read > 0; read = readSync(file, block)) {
      hash.update(block.subarray(0, read))
      onProgress(step, (done += read), 0)
    }
  } finally {
    closeSync(file)
  }
  return hash.digest('hex')
}
