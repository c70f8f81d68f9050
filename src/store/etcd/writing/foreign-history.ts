import { isSeen } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyCondition, KeyRange, TxnOperation } from '@waypost/etcd-client/messages'
import type { Following } from '../following/following.ts'
import { compareKeys, type Keys } from '../keys/keys.ts'

/** How many keys of a range one look reads, and how many foreign keys are remembered. */
const MOST_READ = 20
const MOST_KEPT = 1_000

/** The dependencies of `ForeignHistory`. */
export interface ForeignHistoryParts {
  readonly client: Pick<EtcdClient, 'txn'>
  readonly keys: Keys
  readonly following: Pick<Following, 'saw'>
}

/**
 * Keys in the histories of items that no change has brought. A change compares that its item has no later record; such a key
 * would be one for ever. It is found after a conflict. The clock of changes follows a record that it can follow. The
 * comparison leaves out all other keys from then on.
 */
export class ForeignHistory {
  readonly #parts: ForeignHistoryParts
  readonly #found = new Set<string>()
  #isLooking = false

  constructor(parts: ForeignHistoryParts) {
    this.#parts = parts
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

  /**
   * Looks for foreign keys in the histories that a refused transaction has compared, unless it looks already. A foreign key
   * conflicts again: then the next look finds what this one has not.
   */
  look(compare: readonly KeyCondition[]): void {
    if (this.#isLooking) return
    this.#isLooking = true
    void this.#look(compare)
      .catch(() => undefined)
      .finally(() => (this.#isLooking = false))
  }

  async #look(compare: readonly KeyCondition[]): Promise<void> {
    const { client, keys, following } = this.#parts
    const history = keys.every('history')
    const success = compare.flatMap(({ key, end, of }): TxnOperation[] =>
      of === 'create' && end !== undefined && key.startsWith(history)
        ? [{ do: 'range', key, end, limit: MOST_READ }]
        : [],
    )
    if (success.length === 0) return
    const { results } = await client.txn({ compare: [], success })
    const kvs = results.flatMap((one) => (one.did === 'range' ? one.kvs : []))
    for (const { key } of kvs) {
      const place = keys.read(key)
      if (place?.of === 'history' && isSeen(place.stamp)) following.saw(place.stamp)
      else if (this.#found.size < MOST_KEPT) this.#found.add(key)
    }
  }
}
