import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import { type Service, serviceKeyText } from '../../../core/naming/state/service.ts'
import type { LeftOut, Loaded, Revision, Snapshot, StoredInstance } from '../../../core/engine/ports.ts'
import type { StoredRecord } from '../../../core/records/record-kind.ts'
import { isSeen, stampOfId } from '../../../core/decisions/stamps.ts'
import type { EtcdClient } from '@waypost/etcd-client/etcd-client'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import { type ReadParts, readItem, readWholeRecord } from '../keys/read-values.ts'
import type { Keys } from '../keys/keys.ts'
import type { ComparedKind, KnownKeys } from '../keys/known-keys.ts'
import type { StoreInUse } from '../format/store-in-use.ts'
import type { KeptKeys } from './kept-keys.ts'
import { markOfDamage, recordOfPlace } from '../keys/record-places.ts'
import { MissingChunk } from '../contents/chunks.ts'
import { type DamagedKeys, NO_LEASE, NO_SERVICE } from '../failures/damaged-keys.ts'
import { readingOf, UnreadableValue } from '../failures/unreadable.ts'
import { instanceOf, isWithoutLease, judgedValue, requestOf, serviceOf } from '../keys/values.ts'

/** etcd counts the rest of a range for each page: few large pages are faster than many small ones. */
const PAGE_SIZE = 5_000
/** How many keys one request checks for the newest event of the audit: it is nearly always the first one. */
const AUDIT_LOOKED_AT = 100

/** The dependencies of loading. */
export interface LoadParts {
  readonly client: Pick<EtcdClient, 'pages' | 'range'>
  readonly keys: Keys
  readonly inUse: Pick<StoreInUse, 'look'>
  readonly known: Pick<KnownKeys, 'clear' | 'loaded'>
  readonly readParts: ReadParts
  /** Leaves out damaged keys; undefined: they are errors. */
  readonly damaged?: DamagedKeys | undefined
  /** Notes the keys that are written again where they are lost. */
  readonly kept?: Pick<KeptKeys, 'loading' | 'loaded'> | undefined
}

/** Reads the whole state at one revision. Throws `UnknownLayout`. */
export async function loadKeys(parts: LoadParts): Promise<Snapshot> {
  const { client, keys, inUse, known } = parts
  const revision = await inUse.look()
  const stamps = new LargestStamp()
  const reading: Reading = { ...parts, revision, stamps, missing: [] }
  known.clear()
  parts.kept?.loading()
  const configs = await configsOf(reading)
  const stored = await recordsOf(reading)
  const naming = await namingOf(reading)
  stamps.see(await newestOfAudit(client, keys))
  // Only its request has the stamp of removed data.
  for (const { key, value } of await valuesOf(reading, keys.every('request')))
    stamps.see((await soundOf(reading, key, () => requestOf(value).stamp)) ?? 0)
  await judgeRememberedValues(reading)
  refuseMissing(reading)
  const records = [...stored, ...marksOfDamage(reading)]
  return { configs, ...naming, records, revision, largestStamp: stamps.largest, ...leftOutOf(parts) }
}

/** Reads one kind of keys again, at a revision; instances with their services. */
export async function loadKind(parts: LoadParts, kind: ComparedKind, revision: Revision): Promise<Loaded> {
  const { known } = parts
  const stamps = new LargestStamp()
  // The kept keys follow the watch, which may be ahead of this revision.
  const reading: Reading = { ...parts, kept: undefined, revision, stamps, missing: [] }
  const read = async (): Promise<Partial<Snapshot>> => {
    if (kind === 'config') return { configs: await configsOf(reading) }
    if (kind !== 'small-record') return namingOf(reading)
    return { records: [...(await recordsOf(reading)), ...marksOfDamage(reading)] }
  }
  known.clear(kind === 'config' || kind === 'small-record' ? [kind] : ['service', 'instance'])
  const loaded = await read()
  refuseMissing(reading)
  return { ...loaded, revision, largestStamp: stamps.largest, ...leftOutOf(parts) }
}

function leftOutOf({ keys, damaged }: LoadParts): { leftOut?: LeftOut } {
  const places = (damaged?.all ?? []).map(({ key }) => keys.read(key))
  if (places.length === 0) return {}
  const items = places.flatMap((place) => (place?.of === 'config' ? [place.key.text] : []))
  const services = places.flatMap((place) => (place?.of === 'service' ? [serviceKeyText(place.service)] : []))
  return { leftOut: { items: new Set(items), services: new Set(services) } }
}

/** The context of one reading. */
interface Reading extends LoadParts {
  readonly revision: Revision
  readonly stamps: LargestStamp
  /** Contents of which a chunk is missing, and may be there the next time. */
  readonly missing: MissingChunk[]
}

async function valuesOf(
  { client, keys, known, revision, damaged, kept }: Reading,
  prefix: string,
): Promise<KeyValue[]> {
  const found = await sortedValues(client, { prefix, revision })
  for (const kv of found) known.loaded(kv)
  if (kept !== undefined) for (const kv of found) kept.loaded(kv)
  if (damaged === undefined) return found
  if (damaged.size > 0) damaged.readAgain(prefix, new Set(found.map(({ key }) => key)))
  for (const { key } of found) if (keys.read(key) === undefined) damaged.leaveOut(key)
  return found
}

/** The result of `read` for the value of a key; undefined: it is damaged, and left out. */
function soundOf<T>(
  { damaged, missing }: Pick<Reading, 'damaged' | 'missing'>,
  key: string,
  read: () => T | Promise<T>,
): T | undefined | Promise<T | undefined> {
  if (damaged === undefined) return readingOf(key, read)
  const found = damaged.reading(key, read)
  if (!(found instanceof Promise)) return found
  return found.catch((error: unknown) => {
    if (!(error instanceof MissingChunk)) throw error
    missing.push(error)
    return undefined
  })
}

/** Everything is read before this, so that each missing chunk is tried as often as the others. */
function refuseMissing({ missing: [first] }: Reading): void {
  if (first !== undefined) throw first
}

/** They are no part of the state: their readers read them. */
async function judgeRememberedValues(reading: Reading): Promise<void> {
  const { keys } = reading
  for (const kv of await valuesOf(reading, keys.every('remembered'))) {
    const place = keys.read(kv.key)
    if (place?.of === 'remembered') await soundOf(reading, kv.key, () => judgedValue(place, kv))
  }
}

async function configsOf(reading: Reading): Promise<ConfigItem[]> {
  const { keys, stamps } = reading
  const configs: ConfigItem[] = []
  for (const kv of await valuesOf(reading, keys.every('config')))
    configs.push(...(await configOf(reading, kv)))
  for (const { historyId } of configs) stamps.see(stampOfId(historyId))
  return configs
}

async function recordsOf(reading: Reading): Promise<StoredRecord[]> {
  const { keys } = reading
  const records: StoredRecord[] = []
  for (const prefix of [keys.every('small-record'), keys.every('member'), keys.of({ of: 'elected' })])
    for (const kv of await valuesOf(reading, prefix)) records.push(...(await recordOf(reading, kv)))
  return records
}

function marksOfDamage({ keys, damaged }: LoadParts): StoredRecord[] {
  return (damaged?.all ?? []).flatMap(({ key: storeKey }) => {
    const mark = markOfDamage(keys.read(storeKey))
    return mark === undefined ? [] : [{ recordKind: mark.kind.name, id: mark.id, value: { storeKey } }]
  })
}

async function namingOf(reading: Reading): Promise<Pick<Snapshot, 'services' | 'instances'>> {
  const { keys, damaged } = reading
  const services = (await valuesOf(reading, keys.every('service'))).flatMap((kv, index) =>
    serviceOfKey(reading, kv, index),
  )
  const known = new Set(services.map(({ key }) => serviceKeyText(key)))
  const instances = (await valuesOf(reading, keys.every('instance'))).flatMap((kv, index) => {
    const found = storedInstance(reading, kv, services.length + index)
    if (damaged === undefined || found.every(({ serviceKey }) => known.has(serviceKeyText(serviceKey))))
      return found
    damaged.leaveOut(kv.key, NO_SERVICE)
    return []
  })
  return { services, instances }
}

/** The stamp of the newest audit event; 0 without events. Keys that no server has written may come before it. */
async function newestOfAudit(client: Pick<EtcdClient, 'range'>, keys: Keys): Promise<number> {
  const prefix = keys.every('audit')
  for (let key = prefix; ;) {
    const range = { key, end: prefixEnd(prefix), limit: AUDIT_LOOKED_AT, keysOnly: true }
    const { kvs, more } = await client.range(range)
    for (const kv of kvs) {
      const place = keys.read(kv.key)
      if (place?.of === 'audit') return place.stamp
    }
    if (!more || kvs.length === 0) return 0
    key = `${kvs.at(-1)!.key}\0`
  }
}

class LargestStamp {
  largest = 0

  see(stamp: number): void {
    if (isSeen(stamp)) this.largest = Math.max(this.largest, stamp)
  }
}

async function configOf(reading: Reading, { key, value }: KeyValue): Promise<ConfigItem[]> {
  const { keys, readParts, damaged } = reading
  const place = keys.read(key)
  if (place?.of !== 'config') {
    if (damaged === undefined) throw new UnreadableValue(key, new Error('it is no key of an item'))
    return []
  }
  const item = await soundOf(reading, key, () => readItem(place.key, value, readParts))
  return item === undefined ? [] : [item]
}

async function recordOf(reading: Reading, kv: KeyValue): Promise<StoredRecord[]> {
  const { key } = kv
  const place = reading.keys.read(key)
  const name = recordOfPlace(place)
  if (place === undefined || name === undefined) return []
  if (isWithoutLease(place, kv)) {
    reading.damaged?.leaveOut(key, NO_LEASE)
    return []
  }
  const { recordKind, id } = name
  const read = await soundOf(reading, key, () => readWholeRecord(name, kv.value, reading.readParts))
  if (read === undefined) return []
  reading.stamps.see(read.stamp)
  return [{ recordKind, id, value: read.value }]
}

/** `index` is its position in the order of creation, which gives the serial. */
function serviceOfKey(reading: Reading, { key, value }: KeyValue, index: number): Service[] {
  const place = reading.keys.read(key)
  if (place?.of !== 'service') return []
  const read = soundOf(reading, key, () => serviceOf(place.service, value)) as SavedService | undefined
  if (read === undefined) return []
  reading.stamps.see(read.stamp)
  return [{ ...read.service, serial: index + 1 }]
}

type SavedService = ReturnType<typeof serviceOf>
type SavedInstance = ReturnType<typeof instanceOf>

/** `index` as for services. */
function storedInstance(reading: Reading, { key, value }: KeyValue, index: number): StoredInstance[] {
  const place = reading.keys.read(key)
  if (place?.of !== 'instance') return []
  const read = soundOf(reading, key, () => instanceOf(place.address, value)) as SavedInstance | undefined
  if (read === undefined) return []
  const { record, healthy, stamp } = read
  reading.stamps.see(stamp)
  return [{ serviceKey: place.service, record: { ...record, serial: index + 1 }, healthy }]
}

/** The keys of a range in the order of their creation; keys of one revision by their names. */
async function sortedValues(
  client: Pick<EtcdClient, 'pages'>,
  { prefix, revision }: { prefix: string; revision: number },
): Promise<KeyValue[]> {
  const found: KeyValue[] = []
  const range = { key: prefix, end: prefixEnd(prefix), revision, pageSize: PAGE_SIZE }
  for await (const { kvs } of client.pages(range)) found.push(...kvs)
  // Ranges are sorted by key, and sorting keeps that for equal revisions.
  return found.sort((a, b) => a.createRevision - b.createRevision)
}
