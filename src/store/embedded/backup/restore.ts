import { type BackupFacts, DamagedStore, type OnProgress } from '../../local-file.ts'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import {
  BESIDE_A_STORE,
  databasePath,
  ensureDirectory,
  readMarker,
  refuseUsedDirectory,
  syncPath,
  writeMarker,
} from '../database/data-directory.ts'
import { examineApart } from '../doctor/examiner-process.ts'
import { readFacts, sha256OfFile } from './backup-facts.ts'
import { copyFile } from './copy-file.ts'

/** Checks that a backup is unchanged and sound. Throws NothingStored, DamagedStore. */
export async function verifyBackup(directory: string, onProgress: OnProgress): Promise<BackupFacts> {
  const facts = readFacts(directory)
  refuseChanged(directory, facts, onProgress)
  const { counts, findings } = (await examineApart({ directory, isPrivate: true }, onProgress)).examination
  const worst = findings.find(({ severity }) => severity === 'damage')
  if (worst === undefined) return facts
  throw new DamagedStore(
    `The backup ${directory} is damaged, with ${counts.damage} findings; the first: ${worst.place}: ${worst.problem} ` +
      'Use another backup; `waypost copy-store --salvage` copies what is sound in this one.',
  )
}

/**
 * Brings a backup into a new data directory: verified before and after. The database gets its name when it is whole.
 * Throws NotExaminable if the place is used, NothingStored, DamagedStore, and errors of the file system; it then leaves nothing.
 */
export async function restore(from: string, directory: string, onProgress: OnProgress): Promise<BackupFacts> {
  refuseUsedDirectory(directory, BESIDE_A_STORE)
  const facts = await verifyBackup(from, onProgress)
  ensureDirectory(directory)
  const draft = join(directory, '.restore')
  try {
    mkdirSync(draft, { mode: 0o700 })
    const to = databasePath(draft)
    const copied = await copyFile({ from: databasePath(from), to, bytesPerSecond: 0, onProgress })
    if (copied.sha256 !== facts.sha256) throw changed(from)
    // Verify the bytes that the disk returns, not the bytes that were written.
    refuseChanged(draft, facts, onProgress)
    renameSync(to, databasePath(directory))
    rmSync(draft, { recursive: true })
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
  syncPath(directory)
  const createdMs = readMarker(from)?.createdMs
  writeMarker(directory, typeof createdMs === 'number' ? createdMs : facts.createdMs)
  return facts
}

function refuseChanged(directory: string, facts: BackupFacts, onProgress: OnProgress): void {
  let sha256: string
  try {
    sha256 = sha256OfFile(databasePath(directory), 'verifying', onProgress)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') throw cause
    throw new DamagedStore(`The directory ${directory} holds no whole backup: waypost.db is missing.`)
  }
  if (sha256 !== facts.sha256) throw changed(directory)
}

function changed(directory: string): DamagedStore {
  return new DamagedStore(
    `The file waypost.db in ${directory} is not what was backed up: its sha256 differs from the one in backup.json. ` +
      'Use another backup; `waypost doctor` says what is wrong with this one.',
  )
}
