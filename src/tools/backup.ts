import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { packageVersion } from '../command/version.ts'
import { Backups } from '../store/embedded/backup/backups.ts'
import { verifyBackup } from '../store/embedded/backup/restore.ts'
import { refuseUsedDirectory } from '../store/embedded/doctor/repair.ts'
import { NotExaminable } from '../store/embedded/doctor/sqlite-check.ts'
import { openEmbeddedStore } from '../store/embedded/embedded-store.ts'
import { askForBackup, askForProgress, type BackupOfServer } from './backup-request.ts'
import type { Tool, ToolResult } from './run-tool.ts'
import { WrongArguments } from './tool-arguments.ts'
import type { ToolProgress } from './tool-progress.ts'

const MS_BETWEEN_QUESTIONS = 1_000
const QUIET = { info() {}, warn() {}, error() {} }

/** `waypost backup`: of a running server (`--url`), or of a stopped one's data directory. */
export const backup: Tool = {
  flags: { url: 'value', 'data-dir': 'value', to: 'value', label: 'value' },
  async run(flags, progress) {
    const [url, directory] = [flags.value('url'), flags.value('data-dir')]
    const label = flags.value('label') ?? ''
    if (!/^[a-z0-9-]{0,40}$/.test(label))
      throw new WrongArguments('A label has up to 40 of the characters a-z, 0-9 and -.')
    if ((url === undefined) === (directory === undefined))
      throw new WrongArguments('Say either --url, for a running server, or --data-dir, for a stopped one.')
    if (url !== undefined) {
      const to = flags.value('to')
      return ofServer({ url, label, to: to === undefined ? undefined : resolve(to) }, progress)
    }
    return ofDirectory(resolve(directory ?? ''), { to: resolve(flags.required('to')), label }, progress)
  },
}

async function ofServer(
  { url, label, to }: { url: string; label: string; to: string | undefined },
  progress: ToolProgress,
): Promise<ToolResult> {
  if (to !== undefined) refuseUsedDirectory(to)
  const made = await whileAsking(url, askForBackup(url, label), progress)
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

/** Another file system needs a copy, and a copy is verified before the first one goes. */
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

async function whileAsking(
  url: string,
  answer: Promise<BackupOfServer>,
  progress: ToolProgress,
): Promise<BackupOfServer> {
  const ended = answer.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([ended, sleep(MS_BETWEEN_QUESTIONS, false)]))) {
    const { step, done, total } = await askForProgress(url).catch(() => ({}) as Record<string, never>)
    if (step !== undefined) progress.on(step, done ?? 0, total ?? 0)
  }
  return answer
}

async function ofDirectory(
  directory: string,
  { to, label }: { to: string; label: string },
  progress: ToolProgress,
): Promise<ToolResult> {
  refuseUsedDirectory(to)
  // Opening would make a store where there is none.
  if (!existsSync(join(directory, 'waypost.db')) && !existsSync(join(directory, 'waypost.json')))
    throw new NotExaminable(
      `The directory ${directory} holds no Waypost store: waypost.db and waypost.json are missing.`,
    )
  const store = await openEmbeddedStore({ directory, log: QUIET })
  const watching = setInterval(() => {
    const { step, done, total } = backups.progress ?? {}
    if (step !== undefined) progress.on(step, done ?? 0, total ?? 0)
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

function resultOf(made: BackupOfServer): ToolResult {
  const { path, size, revision, createdMs, checksum } = made
  const text =
    `Backup ${path}\n  time      ${new Date(createdMs).toISOString()}\n  revision  ${revision}\n` +
    `  size      ${size} bytes\n  checksum  ${checksum}\nVerified. Bring it back with: waypost restore --from ${path} --data-dir NEWDIR\n`
  return { code: 0, text, json: made }
}
