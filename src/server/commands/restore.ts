import { resolve } from 'node:path'
import type { DirectoryTools } from '../../store/local-file.ts'
import { type CommandResult, EXIT, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import { type EtcdFlags, etcdOf, namesEtcd, ofStoppedServer, type StoreCopies } from './stopped-server.ts'

/** The flags of `waypost restore`. */
export interface RestoreFlags extends EtcdFlags {
  readonly from: string
  readonly dataDir?: string
}

/** `waypost restore`: verifies a backup and copies it into a new data directory, or into an empty prefix of etcd. */
export function restore(
  { tools, copies }: { readonly tools: DirectoryTools; readonly copies: Pick<StoreCopies, 'restore'> },
  flags: RestoreFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    if (namesEtcd(flags)) return intoEtcd(copies, flags, progress)
    if (flags.dataDir === undefined) throw new UsageError('--data-dir is required: the new data directory')
    const directory = resolve(flags.dataDir)
    const facts = await tools.restore(resolve(flags.from), directory, progress.onStep)
    const { revision, createdMs, size } = facts
    const text =
      `Restored the backup of ${new Date(createdMs).toISOString()} (revision ${revision}, ${size} bytes) into ${directory}\n` +
      `Start the server with --data-dir ${directory}\n`
    return { code: EXIT.done, text, json: { directory, ...facts }, names: [directory] }
  })
}

async function intoEtcd(
  copies: Pick<StoreCopies, 'restore'>,
  flags: RestoreFlags,
  progress: Progress,
): Promise<CommandResult> {
  const etcd = etcdOf(flags)
  const from = resolve(flags.from)
  const copied = await copies.restore(from, etcd, progress.onStep)
  const { etcdPrefix } = etcd
  const text = `Restored the backup ${from} into etcd, prefix ${etcdPrefix}\nStart servers with --store etcd and this prefix\n`
  return { code: EXIT.done, text, json: { etcdPrefix, ...copied }, names: [etcdPrefix] }
}
