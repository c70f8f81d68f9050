import type { AuditEvent } from '../../../core/audit/audit-event.ts'
import type { HistoryEntry } from '../../../core/config/state/history-record.ts'
import { fieldsOf, numberIn } from '../../../core/records/shape.ts'
import { historyIdOf, stampOfId } from '../../../core/decisions/stamps.ts'
import type { Revision, Snapshot } from '../../../core/engine/ports.ts'
import { DamagedStore, NothingStored } from '../../local-file.ts'
import type { RememberedValue, ShownRecord, StoredPart, StoredSource } from '../../stored-data.ts'
import { withMore } from '../contents/chunks.ts'
import type { EtcdClient, RangeResult } from '@waypost/etcd-client/etcd-client'
import type { KeyValue, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys } from '../keys/keys.ts'
import { refuseMissingFormat } from '../format/missing-format.ts'
import { StoreEmpty } from '../format/store-empty.ts'
import { StoreInUse } from '../format/store-in-use.ts'
import { loadKeys, type LoadParts } from '../following/load-keys.ts'
import type { Sealing } from '../sealing/sealing.ts'
import type { SecretsKeyInUse } from '../sealing/secrets-key-in-use.ts'
import { textOfPieces } from '../contents/shared-texts.ts'
import { readingOf, UnreadableValue } from '../failures/unreadable.ts'
import type { ContentParts } from '../keys/stored-shapes.ts'
import { fromJson, type RecordFacts, withContentOf } from '../keys/values.ts'

/** A tool has time for large pages. */
export const LARGE_PAGES = { pageSize: 50_000, pageBytes: 16 * 1024 * 1024 }
/** The limits of one part. */
const AT_ONCE = 500
const MOST_BYTES = 4 * 1024 * 1024
/** How many texts one request reads. */
const TEXTS_AT_ONCE = 60

type PageRange = Parameters<EtcdClient['pages']>[0]

/** A store in etcd as a source or a target of a copy. */
export interface EtcdPlace {
  readonly client: EtcdClient
  readonly keys: Keys
  /** The prefix of all keys, with a slash at its end. */
  readonly prefix: string
  /** For people. */
  readonly place: string
  /** Keys that a salvage does not read. */
  readonly isLeftOut?: (key: string) => boolean
  /** This process fills the store, and reads it to verify it. */
  readonly isOwnCopy?: boolean
  readonly sealing: Sealing
  readonly secretsKey: Pick<SecretsKeyInUse, 'look'>
}

/** A store in etcd at one revision, while servers may work on it. */
export class EtcdSource implements StoredSource {
  readonly place: string
  readonly revision: Revision
  readonly largestStamp: number
  readonly size: { readonly records: number; readonly bytes: number }
  readonly #etcd: EtcdPlace
  readonly #snapshot: Snapshot

  private constructor(etcd: EtcdPlace, snapshot: Snapshot, size: EtcdSource['size']) {
    this.#etcd = etcd
    this.place = etcd.place
    this.#snapshot = snapshot
    this.size = size
    this.revision = snapshot.revision
    this.largestStamp = snapshot.largestStamp
  }

  /** Loads the current data at the revision `at`, by default the newest. Throws `UnknownLayout`, and `EtcdError`. */
  static async open(etcd: EtcdPlace, at?: Revision): Promise<EtcdSource> {
    const { client, keys } = etcd
    await client.checkVersions()
    const newest = await readable(etcd)
    const revision = at ?? newest
    const inUse = { look: () => Promise.resolve(revision) }
    const known = { clear: () => undefined, loaded: () => undefined }
    const readParts = (parts: ContentParts): Promise<Buffer> => readChunks(etcd, parts, revision)
    const sound: LoadParts['client'] = {
      range: (range) => client.range(range),
      pages: (range) => soundPages(etcd, range),
    }
    const snapshot = await loadKeys({ client: sound, keys, inUse, known, readParts })
    const { count } = await client.range({ ...rangeOf(keys.every('history')), revision, countOnly: true })
    const { configs, records, services, instances } = snapshot
    const things = configs.length + records.length + services.length + instances.length
    return new EtcdSource(etcd, snapshot, { records: count + things, bytes: 0 })
  }

  async *parts(): AsyncGenerator<StoredPart> {
    const { records, services, instances, configs } = this.#snapshot
    const values = await this.#all(this.#etcd.keys.every('remembered'))
    yield { of: 'values', all: values.flatMap((kv) => this.#valueOf(kv)) }
    yield { of: 'records', all: records }
    yield { of: 'services', all: services }
    for (let at = 0; at < instances.length; at += AT_ONCE)
      yield { of: 'instances', all: instances.slice(at, at + AT_ONCE) }
    for (let at = 0; at < configs.length; at += AT_ONCE)
      yield { of: 'items', all: configs.slice(at, at + AT_ONCE) }
    yield* this.#history()
    yield* this.#audit()
  }

  close(): void {
    // The caller closes the client that it has opened.
  }

  #valueOf({ key, value }: KeyValue): RememberedValue[] {
    const place = this.#etcd.keys.read(key)
    return place?.of === 'remembered' ? [{ name: place.name, value: Buffer.from(value).toString() }] : []
  }

  async *#history(): AsyncGenerator<StoredPart> {
    let waiting: HistoryEntry[] = []
    for await (const entries of this.#entriesOfItems()) {
      waiting.push(...entries)
      if (waiting.length < AT_ONCE) continue
      yield* this.#shown(waiting)
      waiting = []
    }
    yield* this.#shown(waiting)
  }

  /** The entries of one item after the other, oldest first. */
  async *#entriesOfItems(): AsyncGenerator<HistoryEntry[]> {
    let ofItem: HistoryEntry[] = []
    for await (const kv of this.#each(this.#etcd.keys.every('history'))) {
      const place = this.#etcd.keys.read(kv.key)
      if (place?.of !== 'history') continue
      const read = readingOf(kv.key, () => entryIn(kv.value))
      const entry = { ...read, key: place.key, id: historyIdOf(place.stamp) }
      if (ofItem.length > 0 && ofItem[0]!.key.text !== entry.key.text) {
        yield ofItem.reverse()
        ofItem = []
      }
      ofItem.push(entry)
    }
    if (ofItem.length > 0) yield ofItem.reverse()
  }

  /** Parts of bounded size; the last part ends with an item. */
  async *#shown(entries: readonly HistoryEntry[]): AsyncGenerator<StoredPart> {
    for (let from = 0; from < entries.length;) {
      let to = from
      for (let bytes = 0; to < entries.length && to - from < AT_ONCE && bytes < MOST_BYTES; to++)
        bytes += entries[to]!.size
      const all = await this.#recordsOf(entries.slice(from, to))
      yield { of: 'history', all, isWhole: to === entries.length }
      from = to
    }
  }

  async #recordsOf(entries: readonly HistoryEntry[]): Promise<ShownRecord[]> {
    const pieces: HistoryEntry[][] = []
    for (let at = 0; at < entries.length; at += TEXTS_AT_ONCE)
      pieces.push(entries.slice(at, at + TEXTS_AT_ONCE))
    return (await Promise.all(pieces.map((piece) => this.#textsOf(piece)))).flat()
  }

  /** Reads the newest text of records, which never change; the text of a record removed meanwhile, at the old revision. */
  async #textsOf(entries: readonly HistoryEntry[]): Promise<ShownRecord[]> {
    const { client, keys } = this.#etcd
    const textKeys = entries.map(({ id }) => keys.of({ of: 'record-text', stamp: stampOfId(id) }))
    const success = textKeys.map((key): TxnOperation => ({ do: 'range', key }))
    const { results } = await client.txn({ compare: [], success })
    const shown: ShownRecord[] = []
    for (const [at, result] of results.entries()) {
      const key = textKeys[at]!
      const found = result.did === 'range' ? result.kvs[0] : undefined
      const kv = found ?? (await client.range({ key, revision: this.revision })).kvs[0]
      if (kv === undefined)
        throw new DamagedStore(`The text of the history record ${entries[at]!.id} is missing (key ${key}).`)
      shown.push(await readingOf(key, () => this.#shownRecord(kv.value, entries[at]!)))
    }
    return shown
  }

  async #shownRecord(value: Uint8Array, { key, id }: HistoryEntry): Promise<ShownRecord> {
    const { facts, content, parts } = withContentOf<RecordFacts>(value)
    const whole = parts === undefined ? content : await readChunks(this.#etcd, parts, this.revision)
    const versionId = parts?.of === 'gray-text' ? id : parts && historyIdOf(parts.stamp)
    // Only etcd has that field: the sums of a copy must not include it.
    const { ownsContent: _ownsContent, sharesContent: _sharesContent, ...shown } = facts
    return { record: { ...shown, key, id, content: whole }, versionId }
  }

  /** Newest first. A directory needs another id for each event; two servers may have used the same id. */
  async *#audit(): AsyncGenerator<StoredPart> {
    let all: AuditEvent[] = []
    let last = Number.MAX_SAFE_INTEGER
    for await (const { key, value } of this.#each(this.#etcd.keys.every('audit'))) {
      const event = readingOf(key, () => fieldsOf(fromJson(value)) as unknown as AuditEvent)
      last = Math.min(event.id, last - 1)
      all.push({ ...event, id: last })
      if (all.length < AT_ONCE) continue
      yield { of: 'audit', all }
      all = []
    }
    if (all.length > 0) yield { of: 'audit', all }
  }

  async #all(prefix: string): Promise<KeyValue[]> {
    const found: KeyValue[] = []
    for await (const kv of this.#each(prefix)) found.push(kv)
    return found
  }

  async *#each(prefix: string): AsyncGenerator<KeyValue> {
    const range = { ...rangeOf(prefix), revision: this.revision, ...LARGE_PAGES }
    for await (const { kvs } of soundPages(this.#etcd, range)) yield* kvs
  }
}

async function* soundPages({ client, isLeftOut }: EtcdPlace, range: PageRange): AsyncGenerator<RangeResult> {
  for await (const page of client.pages(range))
    yield isLeftOut === undefined ? page : { ...page, kvs: page.kvs.filter(({ key }) => !isLeftOut(key)) }
}

/**
 * The newest revision, if this version can read the store. Throws `UnknownLayout`, `MissingSecretsKey`, MissingFormat, and NothingStored. A
 * copy reads its own unfinished target.
 */
export async function readable({ client, keys, place, isOwnCopy, secretsKey }: EtcdPlace): Promise<Revision> {
  if (isOwnCopy === true) return (await client.range({ key: keys.of({ of: 'format' }) })).revision
  const inUse = new StoreInUse({ client, keys })
  const revision = await inUse.look().catch((error: unknown) => {
    throw error instanceof StoreEmpty ? new DamagedStore(error.fact, { cause: error }) : error
  })
  if (inUse.current === 0) {
    await refuseMissingFormat(client, keys)
    throw new NothingStored(`There is no Waypost store in ${place}.`)
  }
  await secretsKey.look().catch(unlessDamaged)
  return revision
}

/** The load, and the examination, say it themselves. */
function unlessDamaged(error: unknown): void {
  if (!(error instanceof UnreadableValue)) throw error
}

function entryIn(value: Uint8Array): HistoryEntry {
  const fields = fieldsOf(fromJson(value))
  numberIn(fields, 'size')
  return fields as unknown as HistoryEntry
}

/** All keys with a prefix. */
export function rangeOf(prefix: string): { key: string; end: string } {
  return { key: prefix, end: prefixEnd(prefix) }
}

async function readChunks(
  { client, keys }: EtcdPlace,
  { stamp, count, of }: ContentParts,
  revision: Revision,
): Promise<Buffer> {
  const read = async (index: number): Promise<Uint8Array | undefined> => {
    const { kvs } = await client.range({ key: keys.of({ of: 'chunk', stamp, index }), revision })
    return kvs[0]?.value
  }
  const chunks: Uint8Array[] = []
  for (let index = 0; index < count; index++) {
    const chunk = await read(index)
    if (chunk === undefined) {
      const key = keys.of({ of: 'chunk', stamp, index })
      throw new DamagedStore(`A part of a content is missing (key ${key}).`)
    }
    chunks.push(chunk)
  }
  return of === undefined ? Buffer.concat(chunks) : textOfPieces(Buffer.concat(await withMore(chunks, read)))
}
