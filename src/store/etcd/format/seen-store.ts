import type { KeyValue, TxnOperation, TxnOperationResult } from '@waypost/etcd-client/messages'
import type { Keys } from '../keys/keys.ts'
import { INSTALLATION } from '../keys/installation-name.ts'
import { STORE_EMPTY } from './store-empty.ts'

/** A value that every installation has since its first start. */
const SECRET = 'peer-secret'

/** The keys of an installation, as the store has them at one revision. */
export interface SeenStore {
  readonly format: KeyValue | undefined
  readonly installation: KeyValue | undefined
  /** See `EmptyNotice`. */
  readonly notice: KeyValue | undefined
  /** Whether there is the secret of the servers, or the number of the requests of this server. */
  readonly isUsed: boolean
}

/** The operations of a transaction that give a {@link SeenStore}, in the order of {@link seenIn}. `member`: this server. */
export function readsOfStore(keys: Keys, member?: string): TxnOperation[] {
  const always = [keys.of({ of: 'remembered', name: SECRET })]
  if (member !== undefined) always.push(keys.of({ of: 'request', id: member }))
  const remembered = (name: string): string => keys.of({ of: 'remembered', name })
  return [
    { do: 'range', key: keys.of({ of: 'format' }) },
    { do: 'range', key: remembered(INSTALLATION) },
    { do: 'range', key: remembered(STORE_EMPTY) },
    ...always.map((key): TxnOperation => ({ do: 'range', key, countOnly: true })),
  ]
}

/** The results of {@link readsOfStore}. */
export function seenIn(results: readonly TxnOperationResult[]): SeenStore {
  const [format, installation, notice] = results.map((one) => (one.did === 'range' ? one.kvs[0] : undefined))
  const isUsed = results.slice(3).some((one) => one.did === 'range' && one.count > 0)
  return { format, installation, notice, isUsed }
}
