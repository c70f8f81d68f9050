import { resolve } from 'node:path'
import { restore as bringBack } from '../store/embedded/backup/restore.ts'
import type { Tool } from './run-tool.ts'

/** `waypost restore`: brings a backup into a new data directory. */
export const restore: Tool = {
  flags: { from: 'value', 'data-dir': 'value' },
  async run(flags, progress) {
    const from = resolve(flags.required('from'))
    const directory = resolve(flags.required('data-dir'))
    const facts = await bringBack(from, directory, progress.on)
    const { revision, createdMs, size } = facts
    const text =
      `Restored the backup of ${new Date(createdMs).toISOString()} (revision ${revision}, ${size} bytes) into ${directory}\n` +
      `Start the server with --data-dir ${directory}\n`
    return { code: 0, text, json: { directory, ...facts } }
  },
}
