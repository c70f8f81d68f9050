import { NotExaminable } from '../../local-file.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyCondition, KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { INSTALLATION, installationBytes, nameIn, newInstallation } from '../keys/installation-name.ts'
import { copyIn, LAYOUTS, readLayout } from './layout.ts'
import { readsOfStore, seenIn } from './seen-store.ts'
import { readNotice, STORE_EMPTY } from './store-empty.ts'

/** A loss of data, as an operator has confirmed it. */
export interface ConfirmedLoss {
  /** The server that has noticed the loss; undefined: none that runs. */
  readonly member: string | undefined
  /** How many keys are left under the prefix. The servers take them as all there is. */
  readonly keysLeft: number
}

/**
 * Begins the data under a prefix again, for servers that miss theirs: they take the keys that are there, or none, for all data.
 * Throws NotExaminable if no server misses data, or if another thing is there by now.
 */
export async function confirmEmpty(
  client: Pick<EtcdClient, 'txn' | 'range'>,
  keys: Keys,
): Promise<ConfirmedLoss> {
  const { prefix } = keys
  const { results } = await client.txn({ compare: [], success: readsOfStore(keys) })
  const { format, installation, notice } = seenIn(results)
  if (format !== undefined) throw new NotExaminable(textOf(format, prefix))
  const name = installation && nameIn(installation)
  if (notice === undefined && name === undefined)
    throw new NotExaminable(
      `No server misses data under the prefix ${prefix}: there is nothing to confirm. A first start begins them.`,
    )
  const { installation: noticed, member, layout } = readNotice(notice?.value ?? NOTHING)
  const lost = [noticed ?? [], name?.id ?? []].flat()
  const { count } = await client.range({ key: prefix, end: prefixEnd(prefix), countOnly: true })
  const named = keys.of({ of: 'remembered', name: INSTALLATION })
  const noticeKey = keys.of({ of: 'remembered', name: STORE_EMPTY })
  const next = installationBytes(newInstallation('confirmed', [...new Set(lost)]))
  const success: TxnOperation[] = [
    { do: 'put', key: keys.of({ of: 'format' }), value: Buffer.from(layoutOf(layout, keys)) },
    { do: 'put', key: named, value: next },
    { do: 'delete', key: noticeKey },
  ]
  const compare: KeyCondition[] = [
    { key: keys.of({ of: 'format' }), of: 'create', is: '=', to: 0 },
    { key: named, of: 'mod', is: '=', to: installation?.modRevision ?? 0 },
    { key: noticeKey, of: 'mod', is: '=', to: notice?.modRevision ?? 0 },
  ]
  const { succeeded } = await client.txn({ compare, success })
  if (!succeeded)
    throw new NotExaminable(
      `The keys under the prefix ${prefix} change meanwhile. Look at them, and try again.`,
    )
  const own = (notice === undefined ? 0 : 1) + (installation === undefined ? 0 : 1)
  return { member: member === '' ? undefined : member, keysLeft: count - own }
}

const NOTHING = Buffer.from('{}')

function textOf(format: KeyValue, prefix: string): string {
  const isFilled = copyIn(format.key, Buffer.from(format.value).toString()) !== undefined
  const there = isFilled ? 'a copy that is not finished' : 'a store'
  return `There is ${there} under the prefix ${prefix}: nothing is confirmed.`
}

/** The layout that the servers miss, if this version writes it. */
function layoutOf(text: string, keys: Keys): string {
  if (text === '') return String(LAYOUTS.from)
  return String(readLayout(keys.of({ of: 'format' }), text, LAYOUTS))
}
