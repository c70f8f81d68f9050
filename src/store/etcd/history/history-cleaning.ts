import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { grownValue } from './history-cut.ts'
import type { Keys } from '../keys/keys.ts'
import { removalOf } from './record-removal.ts'
import { placedEntry, type PlacedEntry } from './stored-entry.ts'

/** How many entries one step checks. */
const LOOKED_AT = 1_000
/** How many records are removed with one request: four operations each. */
const AT_ONCE = 30

/** The records that stay in history. */
export interface HistoryLimit {
  /** Older records go, epoch ms. */
  readonly beforeMs: number
  /** The newest records of an item that exists that stay. */
  readonly keep: number
  /** The most records that one step removes. */
  readonly most: number
}

/**
 * Removes old records in small steps through all histories. Two servers that clean at once do no harm: all keys of a
 * record are removed together, or not at all.
 */
export class HistoryCleaning {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  readonly #member: string
  /** The place where the next step begins; undefined: at the beginning. */
  #from: string | undefined
  /** The item in which the last step ended, and how many of its records were seen. */
  #item = ''
  #seen = 0

  /** `member`: the server that removes. */
  constructor(client: Pick<EtcdClient, 'range' | 'txn'>, keys: Keys, member: string) {
    this.#client = client
    this.#keys = keys
    this.#member = member
  }

  /** One step. `more`: there are entries that were not checked since the beginning. */
  async step({ beforeMs, keep, most }: HistoryLimit): Promise<{ removed: number; more: boolean }> {
    const prefix = this.#keys.every('history')
    const from = this.#from ?? prefix
    if (this.#from === undefined) [this.#item, this.#seen] = ['', 0]
    const before = { item: this.#item, seen: this.#seen }
    const { kvs, more } = await this.#client.range({ key: from, end: prefixEnd(prefix), limit: LOOKED_AT })
    const placed = kvs.flatMap((kv) => placedEntry(this.#keys, kv) ?? [])
    const beyond = placed.filter((one) => this.#rankOf(one.key) >= keep && one.entry.atMs < beforeMs)
    const gone = (await this.#ofGoneItems(placed)).filter(({ entry }) => entry.atMs < beforeMs)
    const due = [...new Set([...beyond, ...gone])].slice(0, most)
    await this.#remove(due)
    const isWhole = due.length < most
    if (isWhole) this.#from = more ? `${kvs.at(-1)!.key}\0` : undefined
    else {
      // It has removed its most, and looks at the same entries again. They may begin within an item.
      this.#from = from
      this.#item = before.item
      this.#seen = before.seen
    }
    return { removed: due.length, more: more || !isWhole }
  }

  /** How many newer records of its item there are. */
  #rankOf(key: string): number {
    const item = itemOf(key)
    if (item !== this.#item) this.#seen = 0
    this.#item = item
    return this.#seen++
  }

  /** The entries of items that are not there any more. */
  async #ofGoneItems(kvs: readonly PlacedEntry[]): Promise<PlacedEntry[]> {
    const items = [...new Set(kvs.map(({ key }) => itemOf(key)))]
    const there = new Set<string>()
    for (let at = 0; at < items.length; at += AT_ONCE) {
      const some = items.slice(at, at + AT_ONCE)
      const success = some.map((item): TxnOperation => ({
        do: 'range',
        key: this.#configKeyOf(item),
        countOnly: true,
      }))
      const { results } = await this.#client.txn({ compare: [], success })
      for (const [index, item] of some.entries()) {
        const result = results[index]
        if (result?.did === 'range' && result.count > 0) there.add(item)
      }
    }
    return kvs.filter(({ key }) => !there.has(itemOf(key)))
  }

  /** History keys and keys of items differ in their kind only. */
  #configKeyOf(item: string): string {
    return this.#keys.every('config') + item.slice(this.#keys.every('history').length)
  }

  async #remove(due: readonly PlacedEntry[]): Promise<void> {
    for (let at = 0; at < due.length; at += AT_ONCE) {
      const removals = await Promise.all(
        due.slice(at, at + AT_ONCE).map((one) => removalOf(this.#client, this.#keys, one)),
      )
      const bytes = removals.reduce((sum, removal) => sum + removal.bytes, 0)
      const key = this.#keys.of({ of: 'history-grown', id: this.#member, index: 'cleaned' })
      // A publish may have removed an entry meanwhile: then they are checked again with the next round.
      await this.#client.txn({
        compare: removals.map(({ text }) => ({ key: text, of: 'create', is: '>', to: 0 })),
        success: [
          ...removals.flatMap(({ operations }) => operations),
          { do: 'put', key, value: grownValue(-bytes) },
        ],
      })
    }
  }
}

function itemOf(historyKey: string): string {
  return historyKey.slice(0, historyKey.lastIndexOf('/'))
}
