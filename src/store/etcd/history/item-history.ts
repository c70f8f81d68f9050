import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import { stampOfId } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { bytesOfRecord } from './history-size.ts'
import { placedEntry, type PlacedEntry } from './stored-entry.ts'

const PAGE_SIZE = 1_000
/** How many of an item's oldest records are its tail, which is read again before records are removed. */
const TAIL = 256
const MOST_REMEMBERED = 50_000

/** The bytes of an item's history when its last record had this id. */
interface Known {
  readonly historyId: number
  /** The bytes of the records before its tail. Nobody removes them while there is a tail: the oldest records go first. */
  readonly head: number
  /** The most bytes of its tail: others may have removed records. */
  readonly tail: number
  /** The first key of its tail. Keys begin with the newest record. */
  readonly tailFrom: string
}

/** The sizes of an item's history now, and once the change that was decided last is written. */
interface Knowledge {
  readonly now: Known
  readonly next?: Known
}

/** Records that an item gets. */
export interface AddedRecords {
  readonly key: ConfigKey
  /** The id of the last record before them. */
  readonly before: number
  /** The id of the last added record. */
  readonly last: number
  readonly bytes: number
}

/**
 * Finds the oldest records of an item that go because its history takes too many bytes. The history of an item may have any
 * length, and commits wait for this. So all of it is read only once, and again when its tail is used up. After changes of
 * other servers the new records are read.
 */
export class ItemHistory {
  readonly #client: Pick<EtcdClient, 'range'>
  readonly #keys: Keys
  readonly #known = new Map<string, Knowledge>()

  constructor(client: Pick<EtcdClient, 'range'>, keys: Keys) {
    this.#client = client
    this.#keys = keys
  }

  /** The oldest records, the oldest first, so that the item has at most `maxBytes` with the added records. */
  async tooOld(added: AddedRecords, { maxBytes, most }: Limits): Promise<PlacedEntry[]> {
    if (maxBytes === Infinity) return []
    const { key, last, bytes } = added
    let now = await this.#upTo(added)
    const removed: PlacedEntry[] = []
    if (now.head + now.tail + bytes > maxBytes) {
      let tail = await this.#between(key, now.tailFrom)
      if (tail.length === 0) {
        now = await this.#counted(added)
        tail = await this.#between(key, now.tailFrom)
      }
      now = { ...now, tail: sum(tail) }
      let over = now.head + now.tail + bytes - maxBytes
      for (const entry of tail.toReversed()) {
        if (over <= 0 || removed.length === most) break
        removed.push(entry)
        over -= bytesOfRecord(entry.entry)
      }
    }
    const next = { ...now, historyId: last, head: now.head + bytes, tail: now.tail - sum(removed) }
    if (this.#known.size >= MOST_REMEMBERED) this.#known.clear()
    this.#known.set(key.text, { now, next })
    return removed
  }

  /** Records are added that are not the newest: all are counted with the next change. */
  forget(key: ConfigKey): void {
    this.#known.delete(key.text)
  }

  /** The bytes before the change. They are higher than the true bytes where others have removed records of the tail. */
  async #upTo(added: AddedRecords): Promise<Known> {
    const { key, before } = added
    const found = this.#known.get(key.text)
    if (found === undefined) return this.#counted(added)
    if (found.next?.historyId === before) return found.next
    const { now } = found
    if (now.historyId === before) return now
    const own = this.#keys.of({ of: 'history', key, stamp: stampOfId(now.historyId) })
    const newer = await this.#between(key, this.#keys.historyOf(key), own)
    return { ...now, historyId: newer[0]?.entry.id ?? before, head: now.head + sum(newer) }
  }

  async #counted({ key, before }: AddedRecords): Promise<Known> {
    const entries = await this.#between(key, this.#keys.historyOf(key))
    const tail = entries.slice(-TAIL)
    const head = entries.slice(0, entries.length - tail.length)
    return {
      historyId: entries[0]?.entry.id ?? before,
      head: sum(head),
      tail: sum(tail),
      // Without records the tail is empty, also later.
      tailFrom: tail[0]?.key ?? prefixEnd(this.#keys.historyOf(key)),
    }
  }

  /** The records of an item from a key to an end, the newest first. */
  async #between(
    key: ConfigKey,
    from: string,
    end = prefixEnd(this.#keys.historyOf(key)),
  ): Promise<PlacedEntry[]> {
    const found: PlacedEntry[] = []
    for (let next = from; ;) {
      const { kvs, more } = await this.#client.range({ key: next, end, limit: PAGE_SIZE })
      found.push(...kvs.flatMap((kv) => placedEntry(this.#keys, kv) ?? []))
      if (!more) return found
      next = `${kvs.at(-1)!.key}\0`
    }
  }
}

/** The limits of an item's history, and of one removal. */
export interface Limits {
  readonly maxBytes: number
  /** The most records. */
  readonly most: number
}

function sum(entries: readonly PlacedEntry[]): number {
  return entries.reduce((bytes, { entry }) => bytes + bytesOfRecord(entry), 0)
}
