import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DirectoryTools, NotExaminable } from '../local-file.ts'
import { Backups } from './backup/backups.ts'
import { restore, verifyBackup } from './backup/restore.ts'
import { examine, openExamined } from './doctor/examine.ts'
import { refuseUsedDirectory, repair } from './doctor/repair.ts'
import { openEmbeddedStore } from './embedded-store.ts'

const QUIET = { info() {}, warn() {}, error() {} }
const PROGRESS_INTERVAL_MS = 100

/** What operators do with the directories of the embedded store while no server uses them. */
export const embeddedDirectoryTools: DirectoryTools = {
  refuseUsed: (directory) => refuseUsedDirectory(directory),
  examine: (directory, onProgress) => examine(directory, onProgress),
  verify: verifyBackup,
  restore,

  repair(directory, target, onProgress) {
    // Before the long part, so that a wrong directory is reported at once.
    refuseUsedDirectory(target)
    const examined = openExamined(directory, onProgress)
    try {
      const { examination } = examined
      if (examined.found === undefined) return { examination, repaired: undefined }
      const repaired = repair(examined, target, onProgress)
      refuseDamaged(target, examine(target, onProgress, 'private'))
      return { examination, repaired }
    } finally {
      examined.close()
    }
  },

  async backup(directory, { to, label, version }, onProgress) {
    refuseUsedDirectory(to)
    // Opening would make a store where there is none.
    if (!existsSync(join(directory, 'waypost.db')) && !existsSync(join(directory, 'waypost.json')))
      throw new NotExaminable(
        `The directory ${directory} holds no Waypost store: waypost.db and waypost.json are missing.`,
      )
    const store = await openEmbeddedStore({ directory, log: QUIET })
    const backups = new Backups({ file: store.file, dataDirectory: directory, version, bytesPerSecond: 0 })
    const watching = setInterval(() => {
      const { step, done, total } = backups.progress ?? {}
      if (step !== undefined) onProgress(step, done ?? 0, total ?? 0)
    }, PROGRESS_INTERVAL_MS)
    try {
      return await backups.make(to, label)
    } finally {
      clearInterval(watching)
      await store.close()
    }
  },
}

function refuseDamaged(target: string, after: ReturnType<typeof examine>): void {
  if (after.counts.damage === 0) return
  throw new Error(
    `The repaired store in ${target} still has ${after.counts.damage} findings, the first: ` +
      `${after.findings[0]?.place}: ${after.findings[0]?.problem} Restore a backup instead.`,
  )
}
