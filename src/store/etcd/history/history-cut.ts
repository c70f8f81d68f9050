import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import type { HistoryLimits } from '../../../core/config/state/history-limits.ts'
import type { Unit } from '../../../core/engine/ports.ts'
import { stampOfId } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { bytesOfRecord, type HistorySize } from './history-size.ts'
import type { Keys } from '../keys/keys.ts'
import { storedRecord } from '../contents/large-contents.ts'
import { ItemHistory } from './item-history.ts'
import { type RecordRemoval, removalOf } from './record-removal.ts'
import type { SharedTexts } from '../contents/shared-texts.ts'
import { placedEntry, placedText } from './stored-entry.ts'
import { itemOfRecord, makesRecord, type RecordedChange, recordOfChange, toJson } from '../keys/values.ts'

/** The effect of a unit on history. */
export interface HistoryOfUnit {
  readonly removals: readonly RecordRemoval[]
  /** By how many bytes it grows. */
  readonly grown: number
}

/** How many records a unit removes of its items. The transaction has room for them besides its own operations. */
const MOST_OF_UNIT = 10
/** How many records a request removes of all items. */
const MOST_OF_ALL = 8
/** How many of the oldest records a request checks: their values have contents. */
const LOOKED_AT = 8
const MOST_LATE = 10_000
/** After this time the oldest records are checked again: another server may have added newer ones of their items. */
const AGAIN_MS = 600_000

/** The dependencies of `HistoryCut`. */
export interface HistoryCutParts {
  readonly client: Pick<EtcdClient, 'range'>
  readonly keys: Keys
  readonly size: Pick<HistorySize, 'total'>
  readonly limits: () => HistoryLimits
  readonly nowMs: () => number
}

/** Finds the records to remove so that history stays within its bytes, oldest first. The newest of an item stays. */
export class HistoryCut {
  readonly #parts: HistoryCutParts
  readonly #items: ItemHistory
  /** Older records were checked: they were the newest of their items. */
  #lookedTo = ''
  #lookAgainMs: number
  #late: string[] = []
  /** Records that stop being the newest when the current commit is written. */
  #soonLate: string[] = []

  constructor(parts: HistoryCutParts) {
    this.#parts = parts
    this.#items = new ItemHistory(parts.client, parts.keys)
    this.#lookAgainMs = parts.nowMs() + AGAIN_MS
  }

  /** The effect of a unit on history; undefined without an effect. */
  async ofUnit({ changes }: Unit, texts: SharedTexts): Promise<HistoryOfUnit | undefined> {
    const ours = changes.filter(makesRecord)
    const [first] = ours
    if (first === undefined) return undefined
    const bytes = new Map(ours.map((change) => [change, bytesAdded(change, texts)]))
    const added = sumOf(ours, bytes)
    const removals: RecordRemoval[] = []
    // The commands of a unit are of one item, or of items that are deleted together.
    for (const change of firstOfEach(ours)) {
      const { text } = itemOfRecord(change)
      const ofItem = ours.filter((one) => itemOfRecord(one).text === text)
      removals.push(...(await this.#ofItem(change, ofItem, sumOf(ofItem, bytes))))
    }
    const some = removals.slice(0, MOST_OF_UNIT)
    return { removals: some, grown: added - some.reduce((sum, { bytes }) => sum + bytes, 0) }
  }

  /** The oldest records that go because all items take too much, when `grown` bytes are added. */
  async ofAll(grown: number, most: number): Promise<RecordRemoval[]> {
    const { size, limits } = this.#parts
    let over = (size.total ?? 0) + grown - limits().maxBytes
    const soonLate = this.#soonLate.splice(0)
    const removals: RecordRemoval[] = []
    if (over <= 0) {
      this.#late.push(...soonLate)
      return removals
    }
    for (const kv of await this.#oldest()) {
      if (over <= 0 || removals.length >= Math.min(most, MOST_OF_ALL)) break
      const removal = await this.#removalIfOld(kv)
      if (kv.key > this.#lookedTo) this.#lookedTo = kv.key
      if (removal === undefined) continue
      removals.push(removal)
      over -= removal.bytes
    }
    this.#late.push(...soonLate)
    return removals
  }

  async #ofItem(
    change: RecordedChange,
    changes: readonly RecordedChange[],
    bytes: number,
  ): Promise<RecordRemoval[]> {
    const { client, keys, limits } = this.#parts
    if (changes.some(({ kind }) => kind === 'history-imported')) this.#items.forget(itemOfRecord(change))
    const before = versionBefore(change)
    // A new item adds little; older history of its name was cut when it was deleted.
    if (before === undefined) return []
    this.#noteOlder(before.historyId)
    const old = await this.#items.tooOld(
      {
        key: itemOfRecord(change),
        before: before.historyId,
        last: recordOfChange(changes.at(-1)!).facts.id,
        bytes,
      },
      { maxBytes: limits().maxBytesOfItem, most: MOST_OF_UNIT },
    )
    return Promise.all(old.map((entry) => removalOf(client, keys, entry)))
  }

  /** A record that may have been looked at as the newest of its item is not the newest any more. */
  #noteOlder(historyId: number): void {
    const text = this.#parts.keys.of({ of: 'record-text', stamp: stampOfId(historyId) })
    if (text > this.#lookedTo) return
    this.#soonLate.push(text)
    if (this.#late.length > MOST_LATE) this.#lookAgainMs = 0
  }

  async #oldest(): Promise<readonly KeyValue[]> {
    const { client, keys, nowMs } = this.#parts
    if (nowMs() >= this.#lookAgainMs) {
      this.#lookAgainMs = nowMs() + AGAIN_MS
      this.#lookedTo = ''
      this.#late = []
    }
    const late = this.#late.splice(0, LOOKED_AT)
    const lateRecords = (await Promise.all(late.map((key) => client.range({ key })))).flatMap(
      ({ kvs }) => kvs,
    )
    if (late.length === LOOKED_AT) return lateRecords
    const prefix = keys.every('record-text')
    const key = this.#lookedTo === '' ? prefix : `${this.#lookedTo}\0`
    const next = await client.range({ key, end: prefixEnd(prefix), limit: LOOKED_AT - late.length })
    return [...lateRecords, ...next.kvs]
  }

  /** Undefined: it is the newest record of an item that exists, or no server has written it. */
  async #removalIfOld(kv: KeyValue): Promise<RecordRemoval | undefined> {
    const { client, keys } = this.#parts
    const found = placedText(keys, kv)
    if (found === undefined) return undefined
    const prefix = keys.historyOf(found.item)
    const own = keys.of({ of: 'history', key: found.item, stamp: found.stamp })
    const [item, newest, entries] = await Promise.all([
      client.range({ key: keys.of({ of: 'config', key: found.item }), countOnly: true }),
      client.range({ key: prefix, end: prefixEnd(prefix), limit: 1, keysOnly: true }),
      client.range({ key: own }),
    ])
    const [listed] = entries.kvs
    const entry = listed && placedEntry(keys, listed)
    if (entry === undefined || (item.count > 0 && newest.kvs[0]?.key === own)) return undefined
    return removalOf(client, keys, entry)
  }
}

/** The value of a key with the growth of history. */
export function grownValue(bytes: number): Buffer {
  return toJson(bytes)
}

/** The version that a change replaces; undefined for a new item. */
function versionBefore(change: RecordedChange): ConfigItem | undefined {
  if (change.kind === 'history-imported') return undefined
  return change.kind === 'config-deleted' ? change.deleted : change.previous
}

/** The bytes of the history record of a change. */
function bytesAdded(change: RecordedChange, texts: SharedTexts): number {
  const { facts, shown } = storedRecord(change, texts)
  const { op, ownsContent, sharesContent } = facts
  return bytesOfRecord({ op, size: shown.content.length, ownsContent, sharesContent })
}

function sumOf(changes: readonly RecordedChange[], bytes: ReadonlyMap<RecordedChange, number>): number {
  return changes.reduce((sum, change) => sum + bytes.get(change)!, 0)
}

/** The first change of each item. */
function firstOfEach(changes: readonly RecordedChange[]): RecordedChange[] {
  const first = new Map<string, RecordedChange>()
  for (const change of changes) {
    const { text } = itemOfRecord(change)
    if (!first.has(text)) first.set(text, change)
  }
  return [...first.values()]
}
