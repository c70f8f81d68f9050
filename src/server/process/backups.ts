import { join, resolve } from 'node:path'
import type { Logger } from 'pino'
import { packageVersion } from '../../command/version.ts'
import { Refusal } from '../../core/refusal.ts'
import type { BackupMaker } from '../../operations/server/operator.ts'
import type { Settings } from '../../settings/settings.ts'
import { ServerBackups } from '../../store/embedded/backup/server-backups.ts'
import type { LocalFile } from '../../store/local-file.ts'

/** The backups that operators ask a server for. */
export interface BackupsOfServer extends BackupMaker {
  /** Resolves when no backup is underway. */
  stop(): Promise<void>
}

/** The data are in no file of this machine. */
const NO_FILE: BackupsOfServer = {
  make: () =>
    Promise.reject(
      new Refusal(
        'backup-refused',
        'The data are in etcd: back it up with `waypost backup --etcd-endpoints URLS --to DIR`.',
      ),
    ),
  progress: () => undefined,
  stop: () => Promise.resolve(),
}

/** Makes backups of a file; without one, every backup is refused. */
export function openBackups(file: LocalFile | undefined, settings: Settings, log: Logger): BackupsOfServer {
  if (file === undefined) return NO_FILE
  return new ServerBackups({
    file,
    dataDirectory: settings.dataDir,
    backupDirectory: resolve(settings.backupDir || join(settings.dataDir, 'backups')),
    maxBackups: settings.maxBackups,
    bytesPerSecond: settings.backupBytesPerSecond,
    version: packageVersion(),
    log,
  })
}
