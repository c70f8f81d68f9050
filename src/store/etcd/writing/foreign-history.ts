import type { EtcdClient } from '../client/etcd-client.ts'
import type { KeyCondition, KeyRange, TxnOperation } from '../client/messages.ts'
import { compareKeys, type Keys } from '../keys/keys.ts'

/** How many keys of a range one look reads, and how many foreign keys are remembered. */
const MOST_READ = 20
const MOST_KEPT = 1_000

/**
 * Keys that no server has written in the histories of items. A change compares that its item has no later record; such a key
 * would be one for ever. It is found after a conflict, and the comparison leaves it out from then on.
 */
export class ForeignHistory {
  readonly #client: Pick<EtcdClient, 'txn'>
  readonly #keys: Keys
  readonly #found = new Set<string>()

  constructor(client: Pick<EtcdClient, 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** The conditions that a range is empty but for foreign keys. */
  readonly emptyBut = ({ key, end = '' }: KeyRange): KeyCondition[] => {
    const inRange = [...this.#found].filter((one) => compareKeys(one, key) >= 0 && compareKeys(one, end) < 0)
    const starts = [key, ...inRange.sort(compareKeys).map((one) => `${one}\0`)]
    return starts.map((start, at) => ({
      key: start,
      end: at < inRange.length ? inRange[at]! : end,
      of: 'create',
      is: '=',
      to: 0,
    }))
  }

  /** Looks for foreign keys in the histories that a refused transaction has compared. Rejects if etcd is away. */
  async look(compare: readonly KeyCondition[]): Promise<void> {
    const history = this.#keys.every('history')
    const success = compare.flatMap(({ key, end, of }): TxnOperation[] =>
      of === 'create' && end !== undefined && key.startsWith(history)
        ? [{ do: 'range', key, end, limit: MOST_READ }]
        : [],
    )
    if (success.length === 0) return
    const { results } = await this.#client.txn({ compare: [], success })
    const kvs = results.flatMap((one) => (one.did === 'range' ? one.kvs : []))
    for (const { key } of kvs)
      if (this.#keys.read(key)?.of !== 'history' && this.#found.size < MOST_KEPT) this.#found.add(key)
  }
}
