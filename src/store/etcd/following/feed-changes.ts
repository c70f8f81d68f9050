import type { FedChange } from '../../../core/decisions/changes.ts'
import { recordRemoved, recordSaved } from '../../../core/records/record-kind.ts'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import { type ServiceKey, serviceKeyText } from '../../../core/naming/state/service.ts'
import { historyIdOf } from '../../../core/decisions/stamps.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'
import type { KeyChange } from '@waypost/etcd-client/whole-revisions'
import { type DamagedKeys, NO_LEASE, NO_SERVICE } from '../failures/damaged-keys.ts'
import { readingOf } from '../failures/unreadable.ts'
import { compareKeys, type Keys, type KeyPlace } from '../keys/keys.ts'
import { type ReadParts, type ReadRecord, readItem, readWholeRecord } from '../keys/read-values.ts'
import { markOfDamage, type RecordName, recordOfPlace } from '../keys/record-places.ts'
import {
  instanceOf,
  isWithoutLease,
  judgedValue,
  requestOf,
  serviceOf,
  silencedKeys,
} from '../keys/values.ts'

type InstanceKey = Extract<KeyPlace, { of: 'instance' }>

/** How changes are read. */
export interface ReadingChanges {
  readonly readParts: ReadParts
  /** Leaves out damaged keys; undefined: they are errors. */
  readonly damaged?: DamagedKeys | undefined
  /** Whether the state has a service. */
  readonly hasService?: (service: ServiceKey) => boolean
}

/** The facts of a whole revision. */
interface RevisionContext extends ReadingChanges {
  readonly stamp: number
  readonly isOwnFolder: (key: string) => boolean
  /** The services that this revision saves. */
  readonly saved: Set<string>
  /** The keys of instances that silence has removed, or whose registration over HTTP it has. */
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
  reading: ReadingChanges,
): Promise<RevisionChanges> {
  const placed = placedIn(keys, events)
  const ordered = placed.toSorted((a, b) => rankOf(a) - rankOf(b) || compareKeys(a.key, b.key))
  const stamp = stampOf(placed, reading.damaged)
  const context = {
    ...reading,
    stamp,
    isOwnFolder: (key: string): boolean => keys.isInFolder(key),
    saved: new Set<string>(),
    silenced: silencedIn(placed, reading.damaged),
  }
  const changes: FedChange[] = []
  for (const one of ordered) {
    const wasDamaged = reading.damaged?.has(one.key) === true
    const found = soundChange(one, context)
    const change = found instanceof Promise ? await found : found
    if (change !== undefined) changes.push(change)
    changes.push(...damageChanges(one, wasDamaged, context))
  }
  return { changes, stamp }
}

/** The change of a key. A key that is left out is no change, or the removal of its earlier value. */
function soundChange(one: PlacedKey, context: RevisionContext): MaybeChange | Promise<MaybeChange> {
  const { key, place, event } = one
  const { damaged } = context
  if (event.kind === 'deleted') damaged?.forget(key)
  if (damaged === undefined || event.kind === 'deleted')
    return readingOf(key, () => changeOf(place, event, context))
  if (place === undefined) {
    if (context.isOwnFolder(key)) damaged.leaveOut(key)
    return undefined
  }
  if (isWithoutLease(place, event.kv)) {
    damaged.leaveOut(key, NO_LEASE)
    return removalOf(place, context)
  }
  // Its readers read it again.
  if (place.of === 'remembered') return void damaged.reading(key, () => judgedValue(place, event.kv))
  // The other kinds are no part of the state, and were judged where they are read.
  if (!isOfState(place)) return undefined
  const found = damaged.reading(key, () => changeOf(place, event, context))
  const sound = (change: MaybeChange): MaybeChange => {
    if (damaged.has(key)) return removalOf(place, context)
    if (change?.kind === 'service-saved') context.saved.add(serviceKeyText(change.service.key))
    if (change?.kind !== 'instance-saved' || isOfKnown(change.serviceKey, context)) return change
    damaged.leaveOut(key, NO_SERVICE)
    return undefined
  }
  return found instanceof Promise ? found.then(sound) : sound(found)
}

/** Marks an item or a service that is damaged from now on, or has been until now. */
function damageChanges(
  { key: storeKey, place }: PlacedKey,
  wasDamaged: boolean,
  { stamp, damaged }: RevisionContext,
): FedChange[] {
  const { kind, id } = markOfDamage(place) ?? {}
  if (kind === undefined || id === undefined) return []
  if (damaged?.has(storeKey) === true) return [recordSaved(kind, { id, value: { storeKey }, stamp })]
  return wasDamaged ? [recordRemoved(kind, id, stamp)] : []
}

type MaybeChange = FedChange | undefined

function isOfState(place: KeyPlace): boolean {
  return ['config', 'service', 'instance'].includes(place.of) || recordOfPlace(place) !== undefined
}

/**
 * The change for a damaged value. A record and an instance are gone: that grants nothing, and the next registration
 * replaces the instance. Clients must not get "gone" for an item or a service, so the state keeps the one before.
 */
function removalOf(place: KeyPlace, { stamp }: RevisionContext): MaybeChange {
  const record = recordOfPlace(place)
  if (record !== undefined) return { kind: 'record-removed', ...record, stamp }
  if (place.of !== 'instance') return undefined
  const { service: serviceKey, address } = place
  return { kind: 'instance-removed', serviceKey, address, serial: 0, reason: 'absent', stamp }
}

function isOfKnown(service: ServiceKey, { saved, hasService }: RevisionContext): boolean {
  return saved.has(serviceKeyText(service)) || hasService?.(service) !== false
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
  const { record, healthy, beat, stamp: savedAt } = instanceOf(address, event.kv.value)
  const kind = 'instance-saved'
  const saved = { kind, serviceKey, serviceSerial: 0, record, healthy, beat, stamp: savedAt } as const
  return silenced.has(event.kv.key) ? { ...saved, isSilence: true } : saved
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

function configChange(
  key: ConfigKey,
  event: KeyChange,
  { stamp, readParts }: RevisionContext,
): FedChange | Promise<FedChange> {
  if (event.kind === 'deleted') return { kind: 'config-deleted', key, historyId: historyIdOf(stamp) }
  const op = event.kv.version === 1 ? 'I' : 'U'
  const published = (item: ConfigItem): FedChange => ({
    kind: 'config-published',
    op,
    item,
    previous: undefined,
    operator: NOBODY,
  })
  const read = readItem(key, event.kv.value, readParts)
  return read instanceof Promise ? read.then(published) : published(read)
}

/** The stamp of a request, which each revision of a server has. A deletion has no value, so this is its stamp. */
function stampOf(placed: readonly PlacedKey[], damaged: DamagedKeys | undefined): number {
  const request = placed.find(({ place }) => place?.of === 'request')?.event
  if (request?.kind !== 'put') return 0
  return soundOr(request.kv, damaged, () => requestOf(request.kv.value).stamp) ?? 0
}

/** Undefined: it is damaged. */
function soundOr<T>(
  { key }: Pick<KeyValue, 'key'>,
  damaged: DamagedKeys | undefined,
  read: () => T,
): T | undefined {
  return damaged === undefined ? readingOf(key, read) : (damaged.reading(key, read) as T | undefined)
}

/** The instances that silence has changed, as the units of this revision name them. */
function silencedIn(placed: readonly PlacedKey[], damaged: DamagedKeys | undefined): Set<string> {
  const silenced = new Set<string>()
  for (const { event, place } of placed)
    if (event.kind === 'put' && place?.of === 'silenced')
      for (const key of soundOr(event.kv, damaged, () => silencedKeys(event.kv.value)) ?? [])
        silenced.add(key)
  return silenced
}

/** Services are made before their instances and removed after them. */
function rankOf({ place, event }: PlacedKey): number {
  if (place?.of !== 'service') return 1
  return event.kind === 'put' ? 0 : 2
}
