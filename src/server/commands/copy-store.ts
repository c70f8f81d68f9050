import { resolve } from 'node:path'
import { type CommandResult, EXIT, UsageError } from '../../command/command-line.ts'
import type { Progress } from '../../command/progress.ts'
import {
  findingsText,
  type EtcdFlags,
  etcdOf,
  ofStoppedServer,
  type StoreCopies,
  type StorePlace,
} from './stopped-server.ts'

/** The flags of `waypost copy-store`. */
export interface CopyFlags extends EtcdFlags {
  readonly from?: string
  readonly to?: string
  /** The places without a flag. */
  readonly words?: readonly string[]
  readonly salvage?: boolean
}

/** The place that is not a directory. A directory of that name is `./etcd`. */
const ETCD = 'etcd'

/**
 * `waypost copy-store`: copies a store from a directory into etcd, or back. `--salvage` copies the sound rows of a damaged
 * store, also from directory to directory; then the exit code is 1 if something was left out.
 */
export function copyStore(
  copies: Pick<StoreCopies, 'copy' | 'salvage'>,
  flags: CopyFlags,
  progress: Progress,
): Promise<CommandResult> {
  return ofStoppedServer(async () => {
    const { salvage = false } = flags
    const { from, to } = namesOf(flags)
    if ((from === ETCD) === (to === ETCD) && !(salvage && from !== ETCD))
      throw new UsageError('One of --from and --to is `etcd`, and the other one is a directory.')
    const places = [placeOf(from, flags), placeOf(to, flags)] as const
    const start = `Start ${to === ETCD ? 'servers with --store etcd and this prefix' : `the server with --data-dir ${resolve(to)}`}\n`
    if (salvage) {
      const salvaged = await copies.salvage(...places, progress.onStep)
      const { count, findings } = salvaged.leftOut
      const total = count === 0 ? 'Nothing was left out.' : `${count} places were left out.`
      const text = `${findingsText(findings, count)}Copied ${countsText(salvaged.counts)}. ${total}\n${start}`
      return { code: count === 0 ? EXIT.done : EXIT.differs, text, json: salvaged }
    }
    const copied = await copies.copy(...places, progress.onStep)
    const text = `Copied ${countsText(copied.counts)}, and verified them${copied.isContinued ? ' (continued)' : ''}\n${start}`
    return { code: EXIT.done, text, json: copied }
  })
}

/** The two places, with or without their flags. */
function namesOf({ from, to, words = [] }: CopyFlags): { readonly from: string; readonly to: string } {
  const hasFlags = from !== undefined || to !== undefined
  const [first = '', second = '', ...others] = hasFlags ? [from, to, ...words] : words
  if (first === '' || second === '' || others.length > 0)
    throw new UsageError('Name two places: --from PLACE --to PLACE, or FROM TO.')
  return { from: first, to: second }
}

function countsText(counts: Readonly<Record<string, number>>): string {
  const { items = 0, history = 0, records = 0, services = 0, instances = 0 } = counts
  return (
    `${items} items with ${history} history records, ${services} services, ${instances} persistent instances and ` +
    `${records} small records`
  )
}

function placeOf(place: string, flags: EtcdFlags): StorePlace {
  return place === ETCD ? { etcd: etcdOf(flags) } : { directory: resolve(place) }
}
