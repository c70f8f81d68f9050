import { resolve } from 'node:path'
import type { DirectoryTools } from '../store/local-file.ts'
import { command, required } from './command-line.ts'
import { ETCD_FLAGS, refuseEtcd } from './no-data-file.ts'
import { ofStoppedServer } from './stopped-server.ts'

/** `waypost restore`: verifies a backup and copies it into a new data directory. */
export const restore = (tools: DirectoryTools) =>
  command({
    flags: {
      from: { type: 'string' },
      'data-dir': { type: 'string' },
      ...ETCD_FLAGS,
      json: { type: 'boolean' },
    },
    run: (flags, progress) =>
      ofStoppedServer(async () => {
        refuseEtcd(flags)
        const from = resolve(required('from', flags.from, 'the directory of the backup'))
        const directory = resolve(required('data-dir', flags['data-dir'], 'the new data directory'))
        const facts = await tools.restore(from, directory, progress.onStep)
        const { revision, createdMs, size } = facts
        const text =
          `Restored the backup of ${new Date(createdMs).toISOString()} (revision ${revision}, ${size} bytes) into ${directory}\n` +
          `Start the server with --data-dir ${directory}\n`
        return { code: 0, text, json: { directory, ...facts } }
      }),
  })
