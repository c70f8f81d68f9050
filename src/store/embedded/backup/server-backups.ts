import { join } from 'node:path'
import { Refusal } from '../../../core/refusal.ts'
import type { StoreLog } from '../worker/store-log.ts'
import { BackupFailure, backupName, Backups, backupsIn, type BackupOptions } from './backups.ts'

/** The place of a running server's backups, and their number. */
export interface ServerBackupOptions extends BackupOptions {
  readonly backupDirectory: string
  /** The most backups there; further ones are refused. */
  readonly maxBackups: number
  readonly log: StoreLog
}

/** The answer of the route. */
export interface BackupAnswer {
  /** The directory of the backup on the server's machine. */
  readonly path: string
  readonly size: number
  readonly revision: number
  readonly createdMs: number
  /** The checksum of waypost.db: `sha256:…` */
  readonly checksum: string
  /** How long the database file was held for the copy, and how long the log beside it was then. */
  readonly heldMs: number
  readonly logBytes: number
  readonly tookMs: number
}

/** The backups that operators ask a running server for: in a directory of the server's, with names of its own. */
export class ServerBackups {
  readonly #options: ServerBackupOptions
  readonly #backups: Backups

  constructor(options: ServerBackupOptions) {
    this.#options = options
    this.#backups = new Backups(options)
  }

  /** Makes a backup. Throws Refusal `backup-refused` or `backup-failed`. */
  async make(label: string): Promise<BackupAnswer> {
    const { backupDirectory, log } = this.#options
    try {
      this.#refuseTooMany()
      const made = await this.#backups.make(join(backupDirectory, backupName(label, Date.now())), label)
      const { sha256, path, size, revision, createdMs, heldMs, logBytes, tookMs } = made
      log.info({ path, size, revision, heldMs, logBytes, tookMs }, 'A backup was made')
      return { path, size, revision, createdMs, checksum: `sha256:${sha256}`, heldMs, logBytes, tookMs }
    } catch (error) {
      if (!(error instanceof BackupFailure)) throw error
      if (error.kind === 'refused') throw new Refusal('backup-refused', error.message)
      log.error({ err: error }, 'A backup could not be made; the server itself still works')
      throw new Refusal('backup-failed', error.message, { cause: error })
    }
  }

  /** The progress of the running backup; undefined when none is running. */
  progress() {
    return this.#backups.progress
  }

  /** Ends a running backup. */
  stop(): Promise<void> {
    return this.#backups.stop()
  }

  #refuseTooMany(): void {
    const { backupDirectory, maxBackups } = this.#options
    const there = backupsIn(backupDirectory).length
    if (there < maxBackups) return
    throw new BackupFailure(
      'refused',
      `There are ${there} backups in the server's directory for them, and the setting max-backups allows ${maxBackups}. ` +
        'Move some away or delete them; `waypost backup --to` leaves none there.',
    )
  }
}
