import { createHash, type Hash } from 'node:crypto'
import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import { isGrayHistory } from '../../../core/config/state/gray-version.ts'
import type { HistoryEntry } from '../../../core/config/state/history-record.ts'
import { historyIdOf, stampOfId } from '../../../core/decisions/stamps.ts'
import { serviceKeyText } from '../../../core/naming/state/service.ts'
import { UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { recordKindNamed } from '../../../core/records/record-kind.ts'
import type { Revision } from '../../../core/engine/ports.ts'
import { Findings } from '../../finding.ts'
import { type Examination, type Finding, NotExaminable, type OnProgress } from '../../local-file.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { shownKey } from '@waypost/etcd-client/key-text'
import { readRecord } from '../keys/read-values.ts'
import type { KeyPlace, Keys } from '../keys/keys.ts'
import { FOREIGN_KIND, NO_LEASE } from '../failures/damaged-keys.ts'
import { isOfValue } from '../failures/unreadable.ts'
import { eventOf } from '../history/audit-keys.ts'
import { grownBytes } from '../history/history-size.ts'
import { allNestedPrefixes } from '../format/nested-prefixes.ts'
import { type RecordName, recordOfPlace } from '../keys/record-places.ts'
import type { ContentParts, ItemFacts } from '../keys/stored-shapes.ts'
import {
  fromJson,
  instanceOf,
  isWithoutLease,
  judgedValue,
  type RecordFacts,
  requestOf,
  serviceOf,
  silencedKeys,
  withContentOf,
} from '../keys/values.ts'
import { itemShape } from '../keys/stored-shapes.ts'
import { textOfPieces } from '../contents/shared-texts.ts'
import type { Sealing } from '../sealing/sealing.ts'
import { PresenceOfKeys } from './judge-presence.ts'
import { type EtcdPlace, LARGE_PAGES, rangeOf, readable } from './etcd-source.ts'

/** How the pieces of a gray version's text begin. */
const GRAY_TEXT_BEGIN = Buffer.from('{"text":"')

/** A content in chunks, and the keys of the items and records that name it. */
interface Wanted extends ContentParts {
  /** Undefined: unknown. */
  readonly md5: string | undefined
  readonly owners: readonly string[]
}

/** The chunks found of a content. */
interface FoundChunks {
  count: number
  readonly hash: Hash
  /** The md5 of the text, if a gray version has these chunks. */
  textMd5?: string
}

/** A store in etcd at one revision, and the keys that a salvage leaves out. */
export interface ExaminedEtcd {
  readonly examination: Examination
  readonly revision: Revision
  readonly isLeftOut: (key: string) => boolean
}

/** Examines a whole store in etcd at one revision. Nothing is written. */
export async function examineEtcd(etcd: EtcdPlace, onProgress: OnProgress): Promise<ExaminedEtcd> {
  const { client, keys, prefix, place } = etcd
  await client.checkVersions()
  const revision = await readable(etcd)
  const { count } = await client.range({ ...rangeOf(prefix), revision, countOnly: true })
  const nested = await allNestedPrefixes(client, keys)
  const examining = new Examining(etcd, nested)
  let done = 0
  for (const range of keys.ranges())
    for await (const { kvs } of client.pages({ ...range, revision, ...LARGE_PAGES })) {
      for (const kv of kvs) examining.add(keys.read(kv.key), kv)
      onProgress('reading', (done += kvs.length), count)
    }
  const examination = { directory: place, ...examining.end() }
  return { examination, revision, isLeftOut: (key) => examining.isLeftOut(key) }
}

/** The rules of all keys. Rules of one key are judged as it comes, rules between keys at the end. */
class Examining {
  readonly #sealing: Pick<Sealing, 'isInClear'>
  readonly #keys: Keys
  readonly #presence: PresenceOfKeys
  /** The prefixes of other installations, below this one. */
  readonly #below: readonly string[]
  /** Keys that cannot be read, or that break a rule. */
  readonly #leftOut = new Set<string>()
  readonly #findings = new Findings()
  readonly #rows: Record<string, number> = {}
  #bytes = 0
  readonly #items = new Map<string, Pick<ConfigItem, 'historyId'>>()
  /** The newest record of each item. */
  readonly #newest = new Map<string, Pick<HistoryEntry, 'id' | 'op'>>()
  /** The newest record of a deletion, for each item with one. */
  readonly #deletions = new Map<string, number>()
  /** The md5 of the text of each record, by its stamp. */
  readonly #texts = new Map<number, string>()
  readonly #wanted = new Map<number, Wanted>()
  readonly #chunks = new Map<number, FoundChunks>()
  /** The pieces that may belong to a gray version, until all have come. */
  #pieces: { readonly stamp: number; readonly all: Uint8Array[] } | undefined
  readonly #named = new Set<number>()
  readonly #services = new Set<string>()
  /** One instance of each service with instances. */
  readonly #instances = new Map<string, string>()

  constructor({ sealing, keys }: Pick<EtcdPlace, 'sealing' | 'keys'>, nested: readonly string[]) {
    this.#sealing = sealing
    this.#presence = new PresenceOfKeys(keys)
    this.#keys = keys
    this.#below = nested.filter((prefix) => prefix.length > keys.prefix.length)
    for (const prefix of nested)
      this.#findings.note(`prefix ${prefix}`, {
        problem: `prefix-nested: another installation is ${prefix.length < keys.prefix.length ? 'above' : 'below'} this one.`,
        effect: 'Keys of one look like keys of the other. Copy one of them to a prefix beside the other.',
      })
  }

  /** The next key, in their order. */
  add(place: KeyPlace | undefined, kv: KeyValue): void {
    if (this.#isOfAnother(kv.key)) return
    this.#bytes += kv.key.length
    if (place === undefined) {
      const problem = 'The key is not one of this layout: no server writes it.'
      this.#leaveOut(kv.key, { problem, effect: 'The servers leave it out, and do not remove it.' })
      return
    }
    this.#presence.add(place)
    try {
      this.#bytes += kv.value.length
      if (isWithoutLease(place, kv)) throw new Error(NO_LEASE)
      this.#judge(place, kv)
      if (this.#sealing.isInClear(kv))
        this.#findings.note(`key ${shownKey(kv.key)}`, {
          problem: 'It is a secret, and is not sealed, though a key of secrets-key-file is in use.',
          effect: 'Who reads etcd can read it. The elected server seals it within the hour.',
        })
      this.#rows[place.of] = (this.#rows[place.of] ?? 0) + 1
    } catch (error) {
      const why = error instanceof UnknownRecordKind ? FOREIGN_KIND : (error as Error).message
      const problem = `The value cannot be read: ${why}`
      this.#leaveOut(kv.key, { problem, effect: effectOf(place, error) })
    }
  }

  /** Whether a salvage leaves out a key, once all keys have come. */
  isLeftOut(key: string): boolean {
    if (this.#isOfAnother(key)) return true
    const place = this.#keys.read(key)
    if (this.#leftOut.has(key)) return true
    if (place?.of === 'instance') return !this.#services.has(serviceKeyText(place.service))
    if (place?.of !== 'history') return false
    const { stamp } = place
    if (this.#leftOut.has(this.#keys.of({ of: 'record-text', stamp }))) return true
    if (isGrayHistory(place.key)) return false
    const { key: item } = place
    const isGone = this.#leftOut.has(this.#keys.of({ of: 'config', key: item }))
    const version = isGone ? undefined : this.#items.get(item.text)?.historyId
    // History ends with the version of the item, or with the deletion of the item.
    return historyIdOf(stamp) > (version ?? this.#deletions.get(item.text) ?? 0)
  }

  #isOfAnother(key: string): boolean {
    return this.#below.some((prefix) => key.startsWith(prefix))
  }

  #leaveOut(key: string, { problem, effect }: Pick<Finding, 'problem' | 'effect'>): void {
    this.#leftOut.add(key)
    const isItem = this.#keys.read(key)?.of === 'config'
    const leavesOut = isItem ? 'The item and its history are left out.' : 'The key is left out.'
    this.#findings.damage(`key ${shownKey(key)}`, { problem, effect, leavesOut })
  }

  /** All keys have come. */
  end(): Omit<Examination, 'directory'> {
    this.#endPieces()
    this.#judgeItems()
    this.#judgeTexts()
    this.#judgeChunks()
    for (const [service, instance] of this.#instances)
      if (!this.#services.has(service))
        this.#findings.damage(`instance ${instance}`, {
          problem: 'Its service is not there.',
          effect: 'The servers leave the instance out until there is the service.',
          leavesOut: 'The instances of the service are left out.',
        })
    this.#presence.judge(this.#findings)
    const { counts, kept: findings, leftOut } = this.#findings
    return { counts, findings, leftOut, rows: this.#rows, bytes: this.#bytes }
  }

  #judge(place: KeyPlace, { key, value }: KeyValue): void {
    const record = recordOfPlace(place)
    if (record !== undefined) return this.#judgeRecord(record, key, value)
    if (place.of === 'config') this.#judgeItem(place.key.text, key, value)
    else if (place.of === 'record-text') this.#judgeText(place.stamp, key, value)
    else if (place.of === 'history') this.#judgeEntry(place, key, value)
    else if (place.of === 'chunk') this.#addChunk(place, value)
    else if (place.of === 'named-chunks') this.#named.add(place.stamp)
    else if (place.of === 'service') {
      serviceOf(place.service, value)
      this.#services.add(serviceKeyText(place.service))
    } else if (place.of === 'instance') {
      instanceOf(place.address, value)
      this.#instances.set(serviceKeyText(place.service), `${place.service.groupedName} ${place.address.ip}`)
    } else if (place.of === 'request') requestOf(value)
    else if (place.of === 'audit') eventOf(value)
    else if (place.of === 'silenced') silencedKeys(value)
    else if (place.of === 'history-grown') grownBytes(value)
    else if (place.of === 'remembered') judgedValue(place, { value })
  }

  #judgeRecord(record: RecordName, owner: string, value: Uint8Array): void {
    const isLarge = recordKindNamed(record.recordKind)?.isLarge === true
    const { parts } = isLarge ? (fromJson(value) as { parts?: ContentParts }) : {}
    if (parts === undefined) readRecord(record.recordKind, record.id, value)
    else this.#want(owner, { ...parts, md5: undefined })
  }

  #want(owner: string, wanted: Omit<Wanted, 'owners'>): void {
    const known = this.#wanted.get(wanted.stamp)?.owners ?? []
    this.#wanted.set(wanted.stamp, { ...wanted, owners: [...known, owner] })
  }

  #addChunk({ stamp, index }: Extract<KeyPlace, { of: 'chunk' }>, value: Uint8Array): void {
    const found = this.#chunks.get(stamp) ?? { count: 0, hash: createHash('md5') }
    this.#chunks.set(stamp, found)
    if (index !== found.count) throw new Error('the chunk before it is missing')
    found.count++
    found.hash.update(value)
    if (this.#pieces?.stamp !== stamp) this.#endPieces()
    if (index === 0 && Buffer.from(value.subarray(0, GRAY_TEXT_BEGIN.length)).equals(GRAY_TEXT_BEGIN))
      this.#pieces = { stamp, all: [] }
    // The value is part of a page.
    this.#pieces?.all.push(Buffer.from(value))
  }

  /** All pieces of a content have come: they follow each other. */
  #endPieces(): void {
    const pieces = this.#pieces
    this.#pieces = undefined
    if (pieces === undefined) return
    try {
      const text = textOfPieces(Buffer.concat(pieces.all))
      this.#chunks.get(pieces.stamp)!.textMd5 = md5Of(text)
    } catch {
      // It is another content with the same beginning. If it should be a text, its md5 is missing.
    }
  }

  #judgeItem(text: string, key: string, value: Uint8Array): void {
    const { content, parts, ...read } = withContentOf<ItemFacts>(value)
    const facts = itemShape(read.facts)
    this.#items.set(text, facts)
    this.#judgeContent(key, { md5: facts.md5, content, parts })
  }

  #judgeText(stamp: number, key: string, value: Uint8Array): void {
    const { facts, content, parts } = withContentOf<RecordFacts>(value)
    if (facts.id !== historyIdOf(stamp)) throw new Error(`it is of the record ${facts.id}`)
    this.#texts.set(stamp, facts.md5)
    this.#judgeContent(key, { md5: facts.md5, content, parts })
  }

  /** The texts of records come before the pages of items. The texts left at the end have no page. */
  #judgeEntry(place: Extract<KeyPlace, { of: 'history' }>, key: string, value: Uint8Array): void {
    const { id, op, md5 } = fromJson(value) as HistoryEntry
    const { text: item } = place.key
    // Gray versions are no items: their history may end with any record.
    if (!isGrayHistory(place.key) && !this.#newest.has(item)) this.#newest.set(item, { id, op })
    if (op === 'D' && !this.#deletions.has(item)) this.#deletions.set(item, id)
    const effect = 'The record is on the list but cannot be shown.'
    const stamp = stampOfId(id)
    const text = this.#texts.get(stamp)
    this.#texts.delete(stamp)
    const problem =
      id !== historyIdOf(place.stamp)
        ? `It is of the record ${id}.`
        : text === undefined
          ? `The text of the record ${id} is missing.`
          : text === md5
            ? undefined
            : `The text of the record ${id} is another one.`
    if (problem !== undefined) this.#leaveOut(key, { problem, effect })
  }

  #judgeContent(
    owner: string,
    { md5, content, parts }: { md5: string; content: Buffer; parts: ContentParts | undefined },
  ): void {
    if (parts !== undefined) {
      this.#want(owner, { ...parts, md5 })
      return
    }
    const found = md5Of(content)
    if (found !== md5) throw new Error(`the content has the md5 ${found}, and ${md5} is noted for it`)
  }

  #judgeItems(): void {
    for (const text of new Set([...this.#items.keys(), ...this.#newest.keys()])) {
      const item = this.#items.get(text)
      const last = this.#newest.get(text)
      const place = `item ${text.split('\u0002').join(' ')}`
      const effect = 'The history of the item does not fit to what clients get.'
      const problem =
        item === undefined
          ? last?.op === 'D'
            ? undefined
            : `Its history ends with the version ${last?.id}, but there is no item.`
          : last !== undefined && last.id !== item.historyId
            ? `It has the version ${item.historyId}, but its history ends with the record ${last.id} (${last.op}).`
            : undefined
      const leavesOut = 'History records that do not fit are left out.'
      if (problem !== undefined) this.#findings.damage(place, { problem, effect, leavesOut })
    }
  }

  #judgeTexts(): void {
    for (const stamp of this.#texts.keys())
      this.#findings.damage(`history record ${historyIdOf(stamp)}`, {
        problem: 'It is on the page of no item.',
        effect: 'It takes room, and cleaning does not find it.',
        leavesOut: 'The record is left out.',
      })
  }

  #judgeChunks(): void {
    for (const { stamp, count, of, md5, owners } of this.#wanted.values()) {
      const found = this.#chunks.get(stamp)
      this.#chunks.delete(stamp)
      const effect = 'The content cannot be read: the servers leave the item out, or cannot show the record.'
      const isWhole = of === 'gray-text' ? (found?.count ?? 0) >= count : found?.count === count
      const problem =
        found === undefined || !isWhole
          ? `${found?.count ?? 0} of its ${count} parts are there (stamp ${stamp}).`
          : md5 === undefined || (of === 'gray-text' ? found.textMd5 : found.hash.digest('hex')) === md5
            ? undefined
            : `Its parts (stamp ${stamp}) do not have its md5.`
      if (problem !== undefined) for (const owner of owners) this.#leaveOut(owner, { problem, effect })
    }
    for (const stamp of this.#chunks.keys())
      this.#findings.note(`parts of a content, stamp ${stamp}`, {
        problem: 'Nothing has this content.',
        effect: this.#named.has(stamp) ? 'It takes room.' : 'Cleaning removes it after ten minutes.',
      })
  }
}

function md5Of(content: Buffer): string {
  return createHash('md5').update(content).digest('hex')
}

/** A secret without its key is no damage: servers stop for it. */
function effectOf({ of }: KeyPlace, error: unknown): string {
  const isLeftOut = isOfValue(error) || error instanceof UnknownRecordKind
  if (!isLeftOut || error instanceof NotExaminable) return 'No server can start with it.'
  if (of === 'record-text' || of === 'history') return 'The record of history cannot be shown.'
  if (of === 'audit') return 'The audit does not show the event.'
  return 'The servers leave it out: remove the key, or write the thing again.'
}
