import type { BackupFacts } from '../../local-file.ts'
import { randomBytes } from 'node:crypto'
import { readdirSync, statfsSync, statSync } from 'node:fs'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { databasePath } from '../database/data-directory.ts'
import type { HeldFile, LocalFile } from '../../local-file.ts'
import { CopierProcess } from './copier-process.ts'

/** A backup that was made. */
export interface MadeBackup extends BackupFacts {
  /** Its directory. */
  readonly path: string
  /** How long the file was held, and writes went to the log alone. */
  readonly heldMs: number
  /** How long the log was at the end of that time. */
  readonly logBytes: number
  readonly tookMs: number
}

/** How far a running backup has come. */
export interface BackupProgress {
  readonly step: string
  readonly done: number
  /** 0: unknown. */
  readonly total: number
}

/** The source of backups, and their options. */
export interface BackupOptions {
  readonly file: LocalFile
  readonly dataDirectory: string
  readonly version: string
  /** 0: without a limit. */
  readonly bytesPerSecond: number
  /** The space that stays free on its disk, which the server may use too; 64 MiB by default. */
  readonly reserveBytes?: number
}

/** A backup that is not begun, or that came to nothing. The message is a full sentence for who asked. */
export class BackupFailure extends Error {
  readonly kind: 'refused' | 'failed'

  constructor(kind: BackupFailure['kind'], message: string, cause?: unknown) {
    super(message, { cause })
    this.kind = kind
  }
}

const TOO_LONG =
  'copying took so long that the log of the server would grow too much; is the disk of the backup slow?'
const ORDINARY_BYTES_PER_SECOND = 64 * 1024 * 1024
const DRAFT_PREFIX = '.draft-'
const RESERVE_BYTES = 64 * 1024 * 1024

/** Makes backups of an open store, one at a time. */
export class Backups {
  readonly #options: BackupOptions
  #running: Promise<MadeBackup> | undefined
  #copier: CopierProcess | undefined
  #progress: BackupProgress | undefined
  #isStopped = false

  constructor(options: BackupOptions) {
    this.#options = options
  }

  /** The progress of the running backup; undefined when none is running. */
  get progress(): BackupProgress | undefined {
    return this.#progress
  }

  /**
   * Makes a backup with the free name `target`. Throws BackupFailure; then nothing is left, and the store works as
   * before.
   */
  async make(target: string, label = ''): Promise<MadeBackup> {
    if (this.#isStopped) throw new BackupFailure('refused', 'The server is stopping.')
    if (this.#running !== undefined)
      throw new BackupFailure('refused', 'A backup is being made already; wait until it is done.')
    this.#progress = { step: 'beginning', done: 0, total: 0 }
    this.#running = this.#make(resolve(target), label)
    try {
      return await this.#running
    } finally {
      this.#running = undefined
      this.#progress = undefined
    }
  }

  /** Ends a running backup, which then fails. Later backups are refused. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#copier?.stop()
    await this.#running?.catch(() => {})
  }

  async #make(target: string, label: string): Promise<MadeBackup> {
    const began = performance.now()
    const draft = join(dirname(target), DRAFT_PREFIX + basename(target))
    try {
      await prepare(dirname(target))
      const createdMs = Date.now()
      // Before the file is held: starting a process takes a while.
      this.#copier = new CopierProcess()
      const held = await this.#options.file.hold()
      const made = await this.#copyHeld(held, { target, draft, createdMs, label })
      const tookMs = Math.round(performance.now() - began)
      return { path: target, ...made, tookMs }
    } catch (error) {
      if (error instanceof BackupFailure) throw error
      const why = error instanceof Error ? error.message : String(error)
      throw new BackupFailure('failed', `The backup could not be made: ${why}.`, error)
    } finally {
      this.#copier?.stop()
      await this.#copier?.ended()
      this.#copier = undefined
      await rm(draft, { recursive: true, force: true })
    }
  }

  async #copyHeld(
    held: HeldFile,
    place: { target: string; draft: string; createdMs: number; label: string },
  ): Promise<Omit<MadeBackup, 'path' | 'tookMs'>> {
    const { file, dataDirectory, version, bytesPerSecond, reserveBytes } = this.#options
    const began = performance.now()
    const { target, draft, createdMs, label } = place
    let released: Promise<boolean> | undefined
    const database = databasePath(resolve(dataDirectory))
    const stay = { heldMs: 0, logBytes: 0 }
    const release = () => {
      stay.heldMs = Math.round(performance.now() - began)
      stay.logBytes = statSync(`${database}-wal`, { throwIfNoEntry: false })?.size ?? 0
      return file.release()
    }
    const copier = this.#copier
    const limit = setTimeout(() => copier?.abort(TOO_LONG), longestHoldMs(held.bytes, bytesPerSecond))
    try {
      refuseFullDisk(dirname(target), { bytes: held.bytes, reserve: reserveBytes ?? RESERVE_BYTES })
      // A stop may have come while the file was being held.
      if (this.#isStopped || copier === undefined)
        throw new BackupFailure('refused', 'The server is stopping.')
      const said = { version, revision: held.revision, createdMs, label }
      const facts = await copier.copy(
        { database, draft, target, bytesPerSecond, facts: said },
        {
          onProgress: (step, done, total) => (this.#progress = { step, done, total }),
          onCopied: () => {
            clearTimeout(limit)
            return (released ??= release())
          },
        },
      )
      return { ...facts, ...stay }
    } finally {
      // A store that cannot be asked any more has let go already.
      clearTimeout(limit)
      await (released ??= release()).catch(() => false)
    }
  }
}

/** A name for a backup that sorts by time: `2026-11-21T14-37-00Z-nightly-1f9c2a`. */
export function backupName(label: string, nowMs: number): string {
  const time = new Date(nowMs).toISOString().slice(0, 19).replaceAll(':', '-')
  return [`${time}Z`, ...(label === '' ? [] : [label]), randomBytes(3).toString('hex')].join('-')
}

/** The names of the whole backups in a directory. */
export function backupsIn(directory: string): string[] {
  try {
    return readdirSync(directory).filter((name) => !name.startsWith('.'))
  } catch {
    return []
  }
}

/** Makes the directory, and removes the drafts that a killed process left there: large files, which takes a while. */
async function prepare(parent: string): Promise<void> {
  await mkdir(parent, { recursive: true, mode: 0o700 })
  for (const name of await readdir(parent)) {
    if (name.startsWith(DRAFT_PREFIX)) await rm(join(parent, name), { recursive: true, force: true })
  }
}

/** Ten times the expected duration, and a minute more. */
function longestHoldMs(bytes: number, bytesPerSecond: number): number {
  return 60_000 + (bytes / (bytesPerSecond || ORDINARY_BYTES_PER_SECOND)) * 10_000
}

function refuseFullDisk(parent: string, { bytes, reserve }: { bytes: number; reserve: number }): void {
  const { bavail, bsize } = statfsSync(parent)
  const free = bavail * bsize
  if (free >= bytes + reserve) return
  throw new BackupFailure(
    'failed',
    `The backup could not be made: it needs ${bytes} bytes and leaves ${reserve} free, and ${parent} has ${free}. ` +
      'Free some space there, or choose another disk with the setting backup-dir.',
  )
}
