import { NotExaminable, type BackupFacts, type OnProgress } from '../../local-file.ts'
import { createHash } from 'node:crypto'
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { syncPath } from '../data-directory.ts'

const BLOCK_BYTES = 1024 * 1024

/** The facts of the backup in a directory. Throws NotExaminable where there is none. */
export function readFacts(directory: string): BackupFacts {
  const path = join(directory, 'backup.json')
  try {
    const facts = JSON.parse(readFileSync(path, 'utf8')) as Partial<BackupFacts>
    if (typeof facts.size === 'number' && typeof facts.sha256 === 'string') return facts as BackupFacts
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const why =
      code === 'ENOENT' || code === 'ENOTDIR' ? 'backup.json is missing' : 'backup.json cannot be read'
    throw new NotExaminable(`The directory ${directory} holds no whole backup: ${why}.`)
  }
  throw new NotExaminable(
    `The directory ${directory} holds no whole backup: backup.json does not say what it should.`,
  )
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
