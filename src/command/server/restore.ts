import { resolve } from 'node:path'
import type { DirectoryTools } from '../../store/local-file.ts'
import { type CommandResult, EXIT, UsageError } from '../command-line.ts'
import type { Progress } from '../progress.ts'
import { type EtcdFlags, ofStoppedServer, refuseEtcd } from './stopped-server.ts'

/** The flags of `waypost restore`. */
export interface RestoreFlags extends EtcdFlags {
  readonly from: string
  readonly dataDir?: string
}

/** `waypost restore`: verifies a backup and copies it into a new data directory. */
export function restore(
  tools: DirectoryTools,
  flags: RestoreFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    refuseEtcd(flags)
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
