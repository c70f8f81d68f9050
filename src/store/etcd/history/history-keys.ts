import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { HistoryEntry, HistoryPage, HistoryRecord } from '../../../core/config/state/history-record.ts'
import type { VersionId } from '../../../core/engine/ports.ts'
import { inParts } from '../../../core/work/in-parts.ts'
import type { EtcdClient, RangeResult } from '@waypost/etcd-client/etcd-client'
import type { TxnOperation, TxnOperationResult } from '@waypost/etcd-client/messages'
import { firstStampOf, isItemId, stampOfId } from '../../../core/decisions/stamps.ts'
import { type Keys, LARGEST_STAMP } from '../keys/keys.ts'
import { HistoryIds } from './history-ids.ts'
import type { ContentParts } from '../keys/stored-shapes.ts'
import { fromJson, type RecordFacts, type StoredEntry, withContentOf } from '../keys/values.ts'

/** How many entries a search for one entry reads at a time. */
const LOOKED_AT = 100
/** How many records are asked about with one request. */
const ASKED_AT_ONCE = 100
/** A page is read again if records were removed meanwhile. */
const MOST_TRIES = 3
/** How many entries the last step of `after` may read. */
const FEW = 32
/** The first window of stamps in which a neighbour is searched, a second; the next ones are larger by the factor. */
const FIRST_WINDOW = firstStampOf(1_000)
const WINDOW_FACTOR = 32

type Client = Pick<EtcdClient, 'range' | 'txn' | 'pages'>

/**
 * Reads the history of items. Entries are sorted newest first. etcd counts the rest of a range, so the ranges are
 * narrow. A page is read between two known ids (`HistoryIds`). A neighbour is searched in windows of stamps.
 */
export class HistoryKeys {
  readonly #client: Client
  readonly #keys: Keys
  readonly #readParts: (parts: ContentParts) => Promise<Buffer>
  readonly #ids: HistoryIds

  constructor(client: Client, keys: Keys, readParts: (parts: ContentParts) => Promise<Buffer>) {
    this.#client = client
    this.#keys = keys
    this.#readParts = readParts
    this.#ids = new HistoryIds(client, keys)
  }

  /** See the port. */
  async page(
    keys: readonly ConfigKey[],
    { pageNo, pageSize }: { pageNo: number; pageSize: number },
  ): Promise<HistoryPage> {
    for (let tries = 1; ; tries++) {
      const lists = await Promise.all(keys.map((key) => this.#ids.of(key)))
      const totalCount = lists.reduce((sum, { length }) => sum + length, 0)
      const parts = mergedPage(lists, { skipped: (pageNo - 1) * pageSize, most: pageSize })
      const wanted = parts.reduce((sum, { length }) => sum + length, 0)
      const found = await Promise.all(parts.map((stamps, at) => this.#entries(keys[at]!, stamps)))
      const entries = found.flat().toSorted((one, other) => other.id - one.id)
      if (entries.length === wanted || tries === MOST_TRIES) return { totalCount, entries }
      // A record was removed that was not among the oldest.
      for (const key of keys) this.#ids.forget(key)
    }
  }

  /** The entries of consecutive records, whose stamps rise. */
  async #entries(key: ConfigKey, stamps: readonly number[]): Promise<HistoryEntry[]> {
    const [oldest] = stamps
    if (oldest === undefined) return []
    const range = { key: this.#keyOf(key, stamps.at(-1)!), end: `${this.#keyOf(key, oldest)}\0` }
    const { kvs } = await this.#client.range({ ...range, limit: stamps.length })
    return kvs.map(({ value }) => entryOf(value))
  }

  /** See the port. */
  async record(id: number): Promise<HistoryRecord | undefined> {
    if (isItemId(id)) return undefined
    const { kvs } = await this.#client.range({
      key: this.#keys.of({ of: 'record-text', stamp: stampOfId(id) }),
    })
    const [kv] = kvs
    if (kv === undefined) return undefined
    const { facts: stored, content, parts } = withContentOf<RecordFacts>(kv.value)
    const { ownsContent: _ownsContent, sharesContent: _sharesContent, ...facts } = stored
    return { ...facts, content: parts === undefined ? content : await this.#readParts(parts) }
  }

  /** See the port. */
  async there(ids: readonly number[]): Promise<number[]> {
    const found: number[] = []
    for (let at = 0; at < ids.length; at += ASKED_AT_ONCE) {
      const some = ids.slice(at, at + ASKED_AT_ONCE)
      const success = some.map((id): TxnOperation => ({
        do: 'range',
        key: this.#keys.of({ of: 'record-text', stamp: stampOfId(id) }),
        countOnly: true,
      }))
      const { results } = await this.#client.txn({ compare: [], success })
      found.push(...some.filter((_, i) => isThere(results[i])))
    }
    return found
  }

  /** See the port. */
  async authors(versions: readonly VersionId[]): Promise<ReadonlyMap<number, string | null>> {
    const found = new Map<number, string | null>()
    for (const some of inParts(versions, ASKED_AT_ONCE)) {
      const success = some.map(({ key, historyId }): TxnOperation => ({
        do: 'range',
        key: this.#keyOf(key, stampOfId(historyId)),
      }))
      const { results } = await this.#client.txn({ compare: [], success })
      for (const result of results) {
        const [kv] = result.did === 'range' ? result.kvs : []
        if (kv === undefined) continue
        const { id, srcUser } = entryOf(kv.value)
        found.set(id, srcUser)
      }
    }
    return found
  }

  /** See the port. */
  async before(key: ConfigKey, id: number): Promise<HistoryRecord | undefined> {
    const stamp = stampOfId(id)
    const from = `${this.#keyOf(key, stamp)}\0`
    for (let width = FIRST_WINDOW; ; width *= WINDOW_FACTOR) {
      const oldest = Math.max(0, stamp - width)
      const { kvs } = await this.#client.range({ key: from, end: `${this.#keyOf(key, oldest)}\0`, limit: 1 })
      if (kvs[0] !== undefined) return this.record(entryOf(kvs[0].value).id)
      if (oldest === 0) return undefined
    }
  }

  /** See the port. The window grows until it has a record, and shrinks until it has few. */
  async after(key: ConfigKey, id: number): Promise<HistoryEntry | undefined> {
    let low = stampOfId(id)
    let high = low
    for (let width = FIRST_WINDOW; ; width *= WINDOW_FACTOR) {
      high = Math.min(low + width, LARGEST_STAMP)
      if ((await this.#between(key, low, high)).count > 0) break
      if (high === LARGEST_STAMP) return undefined
      low = high
    }
    for (;;) {
      const { kvs, more } = await this.#between(key, low, high)
      if (!more) return kvs.length === 0 ? undefined : entryOf(kvs.at(-1)!.value)
      const middle = Math.floor((low + high) / 2)
      if ((await this.#between(key, low, middle)).count === 0) low = middle
      else high = middle
    }
  }

  /** The newest entries above the one stamp, up to the other. */
  #between(key: ConfigKey, low: number, high: number): Promise<RangeResult> {
    return this.#client.range({ key: this.#keyOf(key, high), end: this.#keyOf(key, low), limit: FEW })
  }

  /** See the port. */
  async lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined> {
    const end = `${this.#keyOf(key, stampOfId(itemId))}\0`
    let from = this.#keys.historyOf(key)
    for (;;) {
      const { kvs, more } = await this.#client.range({ key: from, end, limit: LOOKED_AT })
      const ofItem = kvs.map(({ value }) => entryOf(value)).filter(({ id }) => id > itemId)
      const update = ofItem.find(({ op }) => op === 'U')
      if (update !== undefined) return this.record(update.id)
      if (!more || ofItem.length < kvs.length) return undefined
      from = `${kvs.at(-1)!.key}\0`
    }
  }

  #keyOf(key: ConfigKey, stamp: number): string {
    return this.#keys.of({ of: 'history', key, stamp })
  }
}

/** The stamps of a page of several lists, newest first, as the part of each list. Stamps rise within a list. */
function mergedPage(
  lists: readonly (readonly number[])[],
  { skipped, most }: { skipped: number; most: number },
): number[][] {
  const ends = lists.map(({ length }) => length)
  const from = [...ends]
  for (let at = 0; at < skipped + most; at++) {
    let newest = -1
    for (const [index, list] of lists.entries())
      if (ends[index]! > 0 && (newest < 0 || list[ends[index]! - 1]! > lists[newest]![ends[newest]! - 1]!))
        newest = index
    if (newest < 0) break
    ends[newest]!--
    if (at < skipped) from[newest]!--
  }
  return lists.map((list, index) => list.slice(ends[index], from[index]))
}

function isThere(result: TxnOperationResult | undefined): boolean {
  return result?.did === 'range' && result.count > 0
}

function entryOf(value: Uint8Array): HistoryEntry {
  const {
    ownsContent: _ownsContent,
    sharesContent: _sharesContent,
    ...entry
  } = fromJson(value) as StoredEntry
  return entry
}
