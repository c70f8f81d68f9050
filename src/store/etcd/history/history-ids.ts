import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'

/** How many ids are remembered, of all histories: 8 bytes each. The histories read last stay. */
const MOST_IDS = 1_000_000
/** How many keys one request reads: a few milliseconds. */
const PAGE_SIZE = 5_000
/** How many keys one request asks about. */
const ASKED_AT_ONCE = 100

/**
 * The stamps of the records of items, oldest first. etcd can neither skip keys nor read backwards, so a server remembers
 * the stamps of the histories whose pages are read. Each read asks for the changes alone: new records are newer than all
 * others (`newerThanHistory`), and the oldest go first. A history whose records went in another order is forgotten by
 * the reader that notices it.
 */
export class HistoryIds {
  readonly #client: Pick<EtcdClient, 'pages' | 'range' | 'txn'>
  readonly #keys: Keys
  /** By the text of the key, the one that was read last at the end. */
  readonly #known = new Map<string, readonly number[]>()
  #count = 0

  constructor(client: Pick<EtcdClient, 'pages' | 'range' | 'txn'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** The stamps of the records of an item, as they are now. */
  async of(key: ConfigKey): Promise<readonly number[]> {
    const known = await this.#withoutRemoved(key, this.#known.get(key.text) ?? [])
    const newest = known.at(-1)
    const prefix = this.#keys.historyOf(key)
    const end = newest === undefined ? prefixEnd(prefix) : this.#keyOf(key, newest)
    const added: number[] = []
    const range = { key: prefix, end, pageSize: PAGE_SIZE, keysOnly: true }
    for await (const { kvs } of this.#client.pages(range))
      for (const kv of kvs) {
        const place = this.#keys.read(kv.key)
        if (place?.of === 'history') added.push(place.stamp)
      }
    const now = added.length === 0 ? known : [...known, ...added.reverse()]
    this.#remember(key, now)
    return now
  }

  /** Reads the stamps of this item again when they are next needed. */
  forget({ text }: ConfigKey): void {
    this.#count -= this.#known.get(text)?.length ?? 0
    this.#known.delete(text)
  }

  async #withoutRemoved(key: ConfigKey, stamps: readonly number[]): Promise<readonly number[]> {
    const [oldest] = stamps
    if (oldest === undefined) return stamps
    const { count } = await this.#client.range({ key: this.#keyOf(key, oldest), countOnly: true })
    return count > 0 ? stamps : stamps.slice(await this.#firstThere(key, stamps))
  }

  /** The place of the oldest record that is still there, found in a few requests. */
  async #firstThere(key: ConfigKey, stamps: readonly number[]): Promise<number> {
    let low = 0
    let high = stamps.length
    while (low < high) {
      const step = Math.ceil((high - low) / ASKED_AT_ONCE)
      const asked: number[] = []
      for (let at = low; at < high; at += step) asked.push(at)
      const success = asked.map((at): TxnOperation => ({
        do: 'range',
        key: this.#keyOf(key, stamps[at]!),
        countOnly: true,
      }))
      const { results } = await this.#client.txn({ compare: [], success })
      const there = results.findIndex((result) => result.did === 'range' && result.count > 0)
      if (there >= 0) high = asked[there]!
      low = (there < 0 ? asked.at(-1)! : (asked[there - 1] ?? high - 1)) + 1
    }
    return high
  }

  #remember(key: ConfigKey, stamps: readonly number[]): void {
    this.forget(key)
    if (stamps.length === 0) return
    this.#known.set(key.text, stamps)
    this.#count += stamps.length
    for (const [text, { length }] of this.#known) {
      if (this.#count <= MOST_IDS || text === key.text) return
      this.#known.delete(text)
      this.#count -= length
    }
  }

  #keyOf(key: ConfigKey, stamp: number): string {
    return this.#keys.of({ of: 'history', key, stamp })
  }
}
