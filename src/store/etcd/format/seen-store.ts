import type { KeyValue, TxnOperation, TxnOperationResult } from '../client/messages.ts'
import type { Keys } from '../keys/keys.ts'
import { INSTALLATION } from './installation-name.ts'
import { STORE_EMPTY } from './store-empty.ts'

/** A value that every installation has since its first start. */
const ALWAYS = 'peer-secret'

/** What is there at one revision of all that a running installation has. */
export interface SeenStore {
  readonly format: KeyValue | undefined
  readonly installation: KeyValue | undefined
  /** See `EmptyNotice`. */
  readonly notice: KeyValue | undefined
  /** Whether there is the secret of the servers. */
  readonly hasSecret: boolean
}

/** The operations of a transaction that give a {@link SeenStore}, in the order of {@link seenIn}. */
export function readsOfStore(keys: Keys): TxnOperation[] {
  const remembered = (name: string): string => keys.of({ of: 'remembered', name })
  return [
    { do: 'range', key: keys.of({ of: 'format' }) },
    { do: 'range', key: remembered(INSTALLATION) },
    { do: 'range', key: remembered(STORE_EMPTY) },
    { do: 'range', key: remembered(ALWAYS), countOnly: true },
  ]
}

/** The results of {@link readsOfStore}. */
export function seenIn(results: readonly TxnOperationResult[]): SeenStore {
  const [format, installation, notice] = results.map((one) => (one.did === 'range' ? one.kvs[0] : undefined))
  const secret = results[3]
  return { format, installation, notice, hasSecret: secret?.did === 'range' && secret.count > 0 }
}
