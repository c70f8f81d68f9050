import { resolve } from 'node:path'
import { type CommandResult, EXIT, UsageError } from '../command-line.ts'
import type { Progress } from '../progress.ts'
import { type EtcdFlags, etcdOf, ofStoppedServer } from './stopped-server.ts'
import type { StoreCopies, StorePlace } from './store-copies.ts'

/** The flags of `waypost copy-store`. */
export interface CopyFlags extends EtcdFlags {
  readonly from: string
  readonly to: string
}

/** The place that is not a directory. A directory of that name is `./etcd`. */
const ETCD = 'etcd'

/** `waypost copy-store`: copies a store from a directory into etcd, or back. */
export function copyStore(
  copies: Pick<StoreCopies, 'copy'>,
  flags: CopyFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    const { from, to } = flags
    if ((from === ETCD) === (to === ETCD))
      throw new UsageError('One of --from and --to is `etcd`, and the other one is a directory.')
    const copied = await copies.copy(placeOf(from, flags), placeOf(to, flags), progress.onStep)
    const { items = 0, history = 0, records = 0, services = 0, instances = 0 } = copied.counts
    const text =
      `Copied ${items} items with ${history} history records, ${services} services, ${instances} persistent instances and ` +
      `${records} small records, and verified them${copied.isContinued ? ' (continued)' : ''}\n` +
      `Start ${to === ETCD ? 'servers with --store etcd and this prefix' : `the server with --data-dir ${resolve(to)}`}\n`
    return { code: EXIT.done, text, json: copied }
  })
}

function placeOf(place: string, flags: EtcdFlags): StorePlace {
  return place === ETCD ? { etcd: etcdOf(flags) } : { directory: resolve(place) }
}
