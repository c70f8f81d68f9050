import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import type { HistoryEntry, HistoryPage, HistoryRecord } from '../../../core/config/state/history-record.ts'
import type { EtcdClient } from '../client/etcd-client.ts'
import type { TxnOperation, TxnOperationResult } from '../client/messages.ts'
import { prefixEnd } from '../client/range-end.ts'
import { isItemId, stampOfId } from '../../../core/decisions/stamps.ts'
import type { Keys } from '../keys/keys.ts'
import {
  type ContentParts,
  fromJson,
  type RecordFacts,
  type StoredEntry,
  withContentOf,
} from '../keys/values.ts'

/** How many entries a search for one entry reads at a time. */
const LOOKED_AT = 100
/** How many records are asked about with one request. */
const ASKED_AT_ONCE = 100

/** Reads the history of items. Entries are sorted newest first, so a page is one range. */
export class HistoryKeys {
  readonly #client: Pick<EtcdClient, 'range' | 'txn'>
  readonly #keys: Keys
  readonly #readParts: (parts: ContentParts) => Promise<Buffer>

  constructor(
    client: Pick<EtcdClient, 'range' | 'txn'>,
    keys: Keys,
    readParts: (parts: ContentParts) => Promise<Buffer>,
  ) {
    this.#client = client
    this.#keys = keys
    this.#readParts = readParts
  }

  /** See the port. */
  async page(
    key: ConfigKey,
    { pageNo, pageSize }: { pageNo: number; pageSize: number },
  ): Promise<HistoryPage> {
    const range = this.#rangeOf(key)
    if (pageNo === 1) {
      const { count, kvs } = await this.#client.range({ ...range, limit: pageSize })
      return { totalCount: count, entries: kvs.map(({ value }) => entryOf(value)) }
    }
    // etcd cannot skip keys: the entries of earlier pages are read without their values.
    const skipped = (pageNo - 1) * pageSize
    const before = await this.#client.range({ ...range, limit: skipped, keysOnly: true })
    const last = before.kvs.at(-1)
    if (last === undefined || !before.more) return { totalCount: before.count, entries: [] }
    const { kvs } = await this.#client.range({ ...range, key: `${last.key}\0`, limit: pageSize })
    return { totalCount: before.count, entries: kvs.map(({ value }) => entryOf(value)) }
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
  async before(key: ConfigKey, id: number): Promise<HistoryRecord | undefined> {
    const from = `${this.#keys.of({ of: 'history', key, stamp: stampOfId(id) })}\0`
    const { kvs } = await this.#client.range({ ...this.#rangeOf(key), key: from, limit: 1 })
    return kvs[0] && this.record(entryOf(kvs[0].value).id)
  }

  /** See the port. */
  async lastUpdate(key: ConfigKey, itemId: number): Promise<HistoryRecord | undefined> {
    const range = this.#rangeOf(key)
    let from = range.key
    for (;;) {
      const { kvs, more } = await this.#client.range({ ...range, key: from, limit: LOOKED_AT })
      const ofItem = kvs.map(({ value }) => entryOf(value)).filter(({ id }) => id > itemId)
      const update = ofItem.find(({ op }) => op === 'U')
      if (update !== undefined) return this.record(update.id)
      if (!more || ofItem.length < kvs.length) return undefined
      from = `${kvs.at(-1)!.key}\0`
    }
  }

  #rangeOf(key: ConfigKey): { key: string; end: string } {
    const prefix = this.#keys.historyOf(key)
    return { key: prefix, end: prefixEnd(prefix) }
  }
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
