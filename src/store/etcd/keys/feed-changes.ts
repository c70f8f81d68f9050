import type { FedChange } from '../../../core/decisions/changes.ts'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import { recordKindNamed } from '../../../core/records/record-kind.ts'
import { UnknownRecordKind } from '../../../core/engine/stored-kinds.ts'
import { historyIdOf } from '../../../core/decisions/stamps.ts'
import type { KeyChange } from '../client/whole-revisions.ts'
import { compareKeys, type Keys, type KeyPlace } from './keys.ts'
import { type RecordName, recordOfPlace } from './record-places.ts'
import {
  type ContentParts,
  fromJson,
  instanceOf,
  type ItemFacts,
  itemOf,
  requestOf,
  serviceOf,
  toJson,
  withContentOf,
} from './values.ts'

/** Reads a content that is in parts. */
export type ReadParts = (parts: ContentParts) => Promise<Buffer>

type InstanceKey = Extract<KeyPlace, { of: 'instance' }>

/** The facts of a whole revision. */
interface RevisionContext {
  readonly stamp: number
  readonly readParts: ReadParts
  /** The keys of instances that were removed for silence. */
  readonly silenced: ReadonlySet<string>
}

/** The author of a change is in the item's history; the state does not keep it. */
const NOBODY = { ip: '', user: null } as const

/** The changes of one revision, and the stamp of the request that made it; 0 if no request of a server made it. */
export interface RevisionChanges {
  readonly changes: FedChange[]
  readonly stamp: number
}

/**
 * The changes of one revision, as the state applies them. Services come before instances, and new ones in the order of their
 * keys. So the order is the same on every server, also on a server that loads them later.
 */
export async function changesOfRevision(
  keys: Keys,
  events: readonly KeyChange[],
  readParts: ReadParts,
): Promise<RevisionChanges> {
  const placed = placedIn(keys, events)
  const ordered = placed.toSorted((a, b) => rankOf(a) - rankOf(b) || compareKeys(a.key, b.key))
  const stamp = stampOf(placed)
  const context = { stamp, readParts, silenced: silencedIn(placed) }
  const changes: FedChange[] = []
  for (const { place, event } of ordered) {
    const found = changeOf(place, event, context)
    const change = found instanceof Promise ? await found : found
    if (change !== undefined) changes.push(change)
  }
  return { changes, stamp }
}

/** An event with the parsed place of its key. */
interface PlacedKey {
  readonly event: KeyChange
  readonly key: string
  readonly place: KeyPlace | undefined
}

function placedIn(keys: Keys, events: readonly KeyChange[]): PlacedKey[] {
  return events.map((event) => {
    const key = event.kind === 'put' ? event.kv.key : event.key
    return { event, key, place: keys.read(key) }
  })
}

/** The item of a value, with its content. */
export async function readItem(key: ConfigKey, value: Uint8Array, readParts: ReadParts): Promise<ConfigItem> {
  const read = withContentOf<ItemFacts>(value)
  return itemOf(key, read.parts === undefined ? read : { ...read, content: await readParts(read.parts) })
}

/** The value of a stored record, and the stamp of the change that has saved it. */
export interface ReadRecord {
  readonly value: unknown
  readonly stamp: number
}

/** The value of a stored record of a kind, whole or in parts. Throws `UnknownRecordKind`. */
export function readWholeRecord(
  { recordKind, id }: RecordName,
  bytes: Uint8Array,
  readParts: ReadParts,
): ReadRecord | Promise<ReadRecord> {
  if (recordKindNamed(recordKind)?.isLarge !== true) return readRecord(recordKind, id, bytes)
  const { parts, stamp } = fromJson(bytes) as { parts?: ContentParts; stamp: number }
  if (parts === undefined) return readRecord(recordKind, id, bytes)
  return readParts(parts).then((json) => readRecord(recordKind, id, toJson({ value: fromJson(json), stamp })))
}

/** The value of a stored record of a kind. Throws `UnknownRecordKind`. */
export function readRecord(recordKind: string, id: string, bytes: Uint8Array): ReadRecord {
  const { value, stamp } = fromJson(bytes) as { value: unknown; stamp: number }
  const kind = recordKindNamed(recordKind)
  if (kind === undefined) throw new UnknownRecordKind(recordKind)
  return { value: kind.decode(value, id), stamp }
}

function changeOf(
  place: KeyPlace | undefined,
  event: KeyChange,
  context: RevisionContext,
): FedChange | undefined | Promise<FedChange | undefined> {
  if (place?.of === 'config') return configChange(place.key, event, context)
  if (place?.of === 'service') return serviceChange(place.service, event)
  if (place?.of === 'instance') return instanceChange(place, event, context)
  const record = recordOfPlace(place)
  if (record !== undefined) return recordChange(record, event, context)
  // History, contents and the messages between servers are not part of the state.
  return undefined
}

function serviceChange(key: ServiceKey, event: KeyChange): FedChange {
  if (event.kind === 'deleted') return { kind: 'service-deleted', key, serial: 0 }
  return { kind: 'service-saved', ...serviceOf(key, event.kv.value) }
}

function instanceChange(
  { service: serviceKey, address }: InstanceKey,
  event: KeyChange,
  { stamp, silenced }: RevisionContext,
): FedChange {
  if (event.kind === 'deleted') {
    const reason = silenced.has(event.key) ? 'expired' : 'deregistered'
    return { kind: 'instance-removed', serviceKey, address, serial: 0, reason, stamp }
  }
  return { kind: 'instance-saved', serviceKey, serviceSerial: 0, ...instanceOf(address, event.kv.value) }
}

function recordChange(
  name: RecordName,
  event: KeyChange,
  { stamp, readParts }: RevisionContext,
): FedChange | Promise<FedChange> {
  const { recordKind, id } = name
  if (event.kind === 'deleted') return { kind: 'record-removed', recordKind, id, stamp }
  const saved = (read: ReadRecord): FedChange => ({ kind: 'record-saved', recordKind, id, ...read })
  const read = readWholeRecord(name, event.kv.value, readParts)
  return read instanceof Promise ? read.then(saved) : saved(read)
}

async function configChange(
  key: ConfigKey,
  event: KeyChange,
  { stamp, readParts }: RevisionContext,
): Promise<FedChange | undefined> {
  if (event.kind === 'deleted') return { kind: 'config-deleted', key, historyId: historyIdOf(stamp) }
  const item = await readItem(key, event.kv.value, readParts)
  const op = event.kv.version === 1 ? 'I' : 'U'
  return { kind: 'config-published', op, item, previous: undefined, operator: NOBODY }
}

/** The stamp of a request, which each revision of a server has. A deletion has no value, so this is its stamp. */
function stampOf(placed: readonly PlacedKey[]): number {
  const request = placed.find(({ place }) => place?.of === 'request')?.event
  return request?.kind === 'put' ? requestOf(request.kv.value).stamp : 0
}

/** The removals for silence that the units of this revision name. */
function silencedIn(placed: readonly PlacedKey[]): Set<string> {
  const silenced = new Set<string>()
  for (const { event, place } of placed)
    if (event.kind === 'put' && place?.of === 'silenced')
      for (const key of fromJson(event.kv.value) as string[]) silenced.add(key)
  return silenced
}

/** Services are made before their instances and removed after them. */
function rankOf({ place, event }: PlacedKey): number {
  if (place?.of !== 'service') return 1
  return event.kind === 'put' ? 0 : 2
}
