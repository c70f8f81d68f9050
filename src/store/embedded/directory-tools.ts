import type { DirectoryTools } from '../local-file.ts'
import { Backups } from './backup/backups.ts'
import { restore, verifyBackup } from './backup/restore.ts'
import { refuseUsedDirectory, refuseWithoutStore } from './database/data-directory.ts'
import { examineApart } from './doctor/examiner-process.ts'
import { openEmbeddedStore } from './embedded-store.ts'

const QUIET = { info() {}, warn() {}, error() {} }
const PROGRESS_INTERVAL_MS = 100

/** The tools of operators for directories of the embedded store that no server uses. */
export const embeddedDirectoryTools: DirectoryTools = {
  refuseUsed: (directory) => refuseUsedDirectory(directory),
  verify: verifyBackup,
  restore,

  async examine(directory, onProgress) {
    return (await examineApart({ directory }, onProgress)).examination
  },

  async backup(directory, { to, label, version }, onProgress) {
    refuseUsedDirectory(to)
    // Opening would create a missing store.
    refuseWithoutStore(directory)
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
