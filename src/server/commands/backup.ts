import { cpSync, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { DirectoryTools } from '../../store/local-file.ts'
import { namesServer, sessionOf } from '../../terminal/session-of-flags.ts'
import type { ServerFlags } from '../../terminal/server-options.ts'
import type { ServerSession } from '../../terminal/server-session.ts'
import { type CommandResult, EXIT, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import { packageVersion } from '../../command/version.ts'
import { requestBackup, requestProgress, type BackupOfServer } from './backup-request.ts'
import { type EtcdFlags, etcdOf, namesEtcd, ofStoppedServer, type StoreCopies } from './stopped-server.ts'

const POLL_INTERVAL_MS = 1_000

/** The flags of `waypost backup`. */
export interface BackupFlags extends ServerFlags, EtcdFlags {
  readonly dataDir?: string
  readonly to?: string
  readonly label?: string
}

/** `waypost backup`: of a running server, of the data directory of a stopped one, or of servers on etcd. */
export function backup(
  { tools, copies }: { readonly tools: DirectoryTools; readonly copies: Pick<StoreCopies, 'backup'> },
  flags: BackupFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(() => {
    const { dataDir, to, label = '' } = flags
    if (!/^[a-z0-9-]{0,40}$/.test(label))
      throw new UsageError('A label has up to 40 of the characters a-z, 0-9 and -.')
    if (namesEtcd(flags)) return ofEtcd(copies, { ...flags, label }, progress)
    if (dataDir === undefined) {
      const target = to === undefined ? undefined : resolve(to)
      return ofServer(tools, { session: sessionOf(flags), label, to: target }, progress)
    }
    if (namesServer(flags)) throw new UsageError('Give either a server, or --data-dir for a stopped one.')
    if (to === undefined) throw new UsageError('--to is required: the directory to write')
    return ofDirectory(tools, { directory: resolve(dataDir), to: resolve(to), label }, progress)
  })
}

async function ofServer(
  tools: DirectoryTools,
  { session, label, to }: { session: ServerSession; label: string; to: string | undefined },
  progress: Progress,
): Promise<CommandResult> {
  if (to !== undefined) tools.refuseUsed(to)
  const made = await withProgress(session, requestBackup(session, label), progress)
  if (to === undefined) return resultOf(made)
  if (!existsSync(join(made.path, 'backup.json'))) {
    throw new Error(
      `The backup was made in ${made.path} on the server's machine, but cannot be seen from here: ` +
        '--to needs the same machine and a user who may read there.',
    )
  }
  await moveDirectory(tools, made.path, to)
  return resultOf({ ...made, path: to })
}

/** On another file system the backup is copied, and the copy is verified before the original is removed. */
async function moveDirectory(tools: DirectoryTools, from: string, to: string): Promise<void> {
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
    await tools.verify(to, () => {})
  } catch (error) {
    rmSync(to, { recursive: true, force: true })
    throw new Error(`The backup is in ${from}, but could not be moved: ${(error as Error).message}`, {
      cause: error,
    })
  }
  rmSync(from, { recursive: true })
}

async function withProgress(
  session: ServerSession,
  answer: Promise<BackupOfServer>,
  progress: Progress,
): Promise<BackupOfServer> {
  const ended = answer.then(
    () => true,
    () => true,
  )
  while (!(await Promise.race([ended, sleep(POLL_INTERVAL_MS, false)]))) {
    const { step, done, total } = await requestProgress(session).catch(() => ({}) as Record<string, never>)
    if (step !== undefined) progress.onStep(step, done ?? 0, total ?? 0)
  }
  return answer
}

async function ofDirectory(
  tools: DirectoryTools,
  { directory, ...options }: { directory: string; to: string; label: string },
  progress: Progress,
): Promise<CommandResult> {
  const made = await tools.backup(directory, { ...options, version: packageVersion() }, progress.onStep)
  const { sha256, ...rest } = made
  return resultOf({ ...rest, checksum: `sha256:${sha256}` })
}

async function ofEtcd(
  copies: Pick<StoreCopies, 'backup'>,
  flags: BackupFlags & { readonly label: string },
  progress: Progress,
): Promise<CommandResult> {
  const { to, label } = flags
  if (namesServer(flags)) throw new UsageError('Give either a server, or --etcd-endpoints.')
  if (to === undefined) throw new UsageError('--to is required: the directory to write')
  const options = { to: resolve(to), label, version: packageVersion() }
  const { sha256, ...rest } = await copies.backup(etcdOf(flags), options, progress.onStep)
  return resultOf({ ...rest, checksum: `sha256:${sha256}` })
}

function resultOf(made: BackupOfServer): CommandResult {
  const { path, size, revision, createdMs, checksum } = made
  const text =
    `Backup ${path}\n  time      ${new Date(createdMs).toISOString()}\n  revision  ${revision}\n` +
    `  size      ${size} bytes\n  checksum  ${checksum}\nVerified. Restore it with: waypost restore --from ${path} --data-dir NEWDIR\n`
  return { code: EXIT.done, text, json: made, names: [path] }
}
