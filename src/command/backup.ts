import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Backups } from '../store/embedded/backup/backups.ts'
import { verifyBackup } from '../store/embedded/backup/restore.ts'
import { refuseUsedDirectory } from '../store/embedded/doctor/repair.ts'
import { NotExaminable } from '../store/embedded/doctor/sqlite-check.ts'
import { openEmbeddedStore } from '../store/embedded/embedded-store.ts'
import { requestBackup, requestProgress, type BackupOfServer } from './backup-request.ts'
import { command, type CommandResult, required, UsageError } from './command-line.ts'
import type { Progress } from './progress.ts'
import { ofStoppedServer } from './stopped-server.ts'
import { packageVersion } from './version.ts'

const POLL_INTERVAL_MS = 1_000
const QUIET = { info() {}, warn() {}, error() {} }

/** `waypost backup`: of a running server (`--url`), or of the data directory of a stopped one. */
export const backup = command({
  flags: {
    url: { type: 'string' },
    'data-dir': { type: 'string' },
    to: { type: 'string' },
    label: { type: 'string' },
    json: { type: 'boolean' },
  },
  run: (flags, progress) =>
    ofStoppedServer(() => {
      const { url, 'data-dir': directory, to, label = '' } = flags
      if (!/^[a-z0-9-]{0,40}$/.test(label))
        throw new UsageError('A label has up to 40 of the characters a-z, 0-9 and -.')
      if (url !== undefined && directory === undefined)
        return ofServer({ url, label, to: to === undefined ? undefined : resolve(to) }, progress)
      if (url !== undefined || directory === undefined)
        throw new UsageError('Give either --url, for a running server, or --data-dir, for a stopped one.')
      const target = resolve(required('to', to, 'the directory to write'))
      return ofDirectory(resolve(directory), { to: target, label }, progress)
    }),
})

async function ofServer(
  { url, label, to }: { url: string; label: string; to: string | undefined },
  progress: Progress,
): Promise<CommandResult> {
  if (to !== undefined) refuseUsedDirectory(to)
  const made = await withProgress(url, requestBackup(url, label), progress)
  if (to === undefined) return resultOf(made)
  if (!existsSync(join(made.path, 'backup.json'))) {
    throw new Error(
      `The backup was made in ${made.path} on the server's machine, but cannot be seen from here: ` +
        '--to needs the same machine and a user who may read there.',
    )
  }
  moveDirectory(made.path, to)
  return resultOf({ ...made, path: to })
}

/** On another file system the backup is copied, and the copy is verified before the original is removed. */
function moveDirectory(from: string, to: string): void {
  mkdirSync(dirname(to), { recursive: true, mode: 0o700 })
  try {
    renameSync(from, to)
    return
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EXDEV' && code !== 'EACCES' && code !== 'EPERM') throw error
  }
  try {
    cpSync(from, to, { recursive: true, errorOnExist: true })
    verifyBackup(to, () => {})
  } catch (error) {
    rmSync(to, { recursive: true, force: true })
    throw new Error(`The backup is in ${from}, but could not be moved: ${(error as Error).message}`, {
      cause: error,
    })
  }
  rmSync(from, { recursive: true })
}

async function withProgress(
  url: string,
  answer: Promise<BackupOfServer>,
  progress: Progress,
): Promise<BackupOfServer> {
  const ended = answer.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([ended, sleep(POLL_INTERVAL_MS, false)]))) {
    const { step, done, total } = await requestProgress(url).catch(() => ({}) as Record<string, never>)
    if (step !== undefined) progress.onStep(step, done ?? 0, total ?? 0)
  }
  return answer
}

async function ofDirectory(
  directory: string,
  { to, label }: { to: string; label: string },
  progress: Progress,
): Promise<CommandResult> {
  refuseUsedDirectory(to)
  // Opening would make a store where there is none.
  if (!existsSync(join(directory, 'waypost.db')) && !existsSync(join(directory, 'waypost.json')))
    throw new NotExaminable(
      `The directory ${directory} holds no Waypost store: waypost.db and waypost.json are missing.`,
    )
  const store = await openEmbeddedStore({ directory, log: QUIET })
  const watching = setInterval(() => {
    const { step, done, total } = backups.progress ?? {}
    if (step !== undefined) progress.onStep(step, done ?? 0, total ?? 0)
  }, 100)
  const backups = new Backups({
    file: store.file,
    dataDirectory: directory,
    version: packageVersion(),
    bytesPerSecond: 0,
  })
  try {
    const { sha256, ...made } = await backups.make(to, label)
    return resultOf({ ...made, checksum: `sha256:${sha256}` })
  } finally {
    clearInterval(watching)
    await store.close()
  }
}

function resultOf(made: BackupOfServer): CommandResult {
  const { path, size, revision, createdMs, checksum } = made
  const text =
    `Backup ${path}\n  time      ${new Date(createdMs).toISOString()}\n  revision  ${revision}\n` +
    `  size      ${size} bytes\n  checksum  ${checksum}\nVerified. Restore it with: waypost restore --from ${path} --data-dir NEWDIR\n`
  return { code: 0, text, json: made }
}
