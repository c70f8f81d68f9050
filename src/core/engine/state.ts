import {
  type Change,
  type InstanceHealthChanged,
  type InstanceRemoved,
  type InstanceSaved,
  savedValue,
} from '../decisions/changes.ts'
import { ConfigTable } from '../config/state/config-table.ts'
import type { ConfigItem, ConfigKey } from '../config/state/config-item.ts'
import { GrayTable } from '../config/state/gray-table.ts'
import { GRAY } from '../config/state/gray-version.ts'
import { AddressIndex } from '../naming/state/address-index.ts'
import { timingOf } from '../naming/state/beat-timing.ts'
import { newInstance } from '../naming/liveness/timed-instance.ts'
import {
  type InstanceAddress,
  isSamePublisher,
  isSameRecord,
  type Metadata,
} from '../naming/state/instance.ts'
import { Liveness } from '../naming/liveness/liveness.ts'
import { NamingCounter, type NamingLimits, NO_NAMING_LIMITS } from '../naming/state/naming-sizes.ts'
import { LISTS_AHEAD, listsAheadMs } from '../naming/state/lists-ahead.ts'
import type { InstancePlace, Leaving, Presence } from '../naming/state/presence.ts'
import {
  REMEMBERED_METADATA,
  type RememberedMetadata,
  rememberedId,
} from '../naming/state/remembered-metadata.ts'
import type { Service, ServiceKey } from '../naming/state/service.ts'
import type { ServiceEntry, Instance } from '../naming/state/service-entry.ts'
import { ServiceTable } from '../naming/state/service-table.ts'
import { instanceBytes, mergedBytes } from '../memory/bytes-of-things.ts'
import { MemoryAccount } from '../memory/memory-account.ts'
import { LOCAL_SWITCH, SWITCH, switchesIn } from '../switches/switch-records.ts'
import { DEFAULT_SWITCHES, type Switches } from '../switches/switches.ts'
import { ANNOUNCED_INTERVAL } from '../switches/announced-interval.ts'
import type { RecordKind, RecordSaved, RecordRemoved } from '../records/record-kind.ts'
import { RecordTables } from '../records/record-tables.ts'
import { msOf, type Now, shownMsOf } from '../decisions/stamps.ts'
import type { View } from '../decisions/view.ts'

/**
 * All current knowledge, in memory, indexed for the queries. Queries read it directly and synchronously.
 * `apply` is its only writer, and the follower is the only caller of `apply` (`test/one-writer.test.ts`).
 */
export class State implements View {
  readonly configs = new ConfigTable()
  /** The items that have gray versions: the records of `GRAY`, by namespace. */
  readonly gray = new GrayTable()
  readonly services: ServiceTable
  readonly #records = new RecordTables()
  readonly #presence: Presence
  readonly #addresses = new AddressIndex()
  readonly namingSizes = new NamingCounter()
  /** The memory of everything here. */
  readonly memory = new MemoryAccount()
  readonly namingLimits: NamingLimits
  #switches: Switches = DEFAULT_SWITCHES
  #latestRefMs = 0
  #listsAheadMs = 0
  /** Counts the revisions that were applied. */
  #step = 0
  #unseen: Change[] = []

  /** `floorMs`: every `lastRefTime` is later (epoch ms). `presence` learns of changes and answers times. */
  constructor(floorMs: number, namingLimits = NO_NAMING_LIMITS, presence: Presence = new Liveness()) {
    this.#presence = presence
    this.namingLimits = namingLimits
    this.services = new ServiceTable(floorMs)
    presence.follow(this)
  }

  /** The switches in force: the stored ones, with this server's own over them. */
  get switches(): Switches {
    return this.#switches
  }

  /** How many instances there are, in all services. */
  get instancesInAll(): number {
    return this.namingSizes.instances.total
  }

  config(key: ConfigKey): ConfigItem | undefined {
    return this.configs.get(key)
  }

  record<T>(kind: RecordKind<T>, id: string): T | undefined {
    return this.#records.record(kind, id)
  }

  records<T>(kind: RecordKind<T>): Iterable<readonly [id: string, value: T]> {
    return this.#records.records(kind)
  }

  /** A number that every change of a record of this kind raises. */
  recordVersion(kind: RecordKind<unknown>): number {
    return this.#records.version(kind)
  }

  /** Nearly always nothing is remembered of any place: then no id is made. */
  remembered(place: InstancePlace): RememberedMetadata | undefined {
    if (this.#records.count(REMEMBERED_METADATA) === 0) return undefined
    return this.#records.record(REMEMBERED_METADATA, rememberedId(place))
  }

  /** How many records of a kind there are. */
  recordCount(kind: RecordKind<unknown>): number {
    return this.#records.count(kind)
  }

  service(key: ServiceKey): Service | undefined {
    return this.services.get(key)?.service
  }

  instance(key: ServiceKey, address: InstanceAddress): Instance | undefined {
    return this.services.get(key)?.get(address)
  }

  /** Whether a persistent instance is at an address. Few services have any. */
  isPersistentAt(key: ServiceKey, address: InstanceAddress): boolean {
    const entry = this.services.get(key)
    return entry !== undefined && entry.persistent > 0 && entry.get(address)?.record.ephemeral === false
  }

  instances(key: ServiceKey): Iterable<Instance> {
    return this.services.get(key)?.instances.values() ?? []
  }

  instanceCount(key: ServiceKey): number {
    return this.services.get(key)?.instances.size ?? 0
  }

  abandonedSinceMs(key: ServiceKey): number | undefined {
    const entry = this.services.get(key)
    return entry && this.#presence.abandonedSinceMs(entry)
  }

  absentSinceMs(place: InstancePlace): number | undefined {
    return this.#presence.absentSinceMs(place)
  }

  /** The labels of an address in a namespace: the metadata of the instances there. */
  labelsAt(ip: string, namespaceId: string): Metadata[] {
    return this.#addresses.labelsAt(ip, namespaceId, () => this.#everyInstance())
  }

  /** The latest `lastRefTime` of all services, also of removed ones. */
  get latestRefMs(): number {
    return this.#latestRefMs
  }

  /** By how much every `lastRefTime` is ahead of the stamp of its change, ms (`LISTS_AHEAD`). */
  get listsAheadMs(): number {
    return this.#listsAheadMs
  }

  /** The applied changes that no list shows, because they concern claims alone. Each is returned once. */
  takeUnseen(): readonly Change[] {
    const unseen = this.#unseen
    if (unseen.length > 0) this.#unseen = []
    return unseen
  }

  /** Applies the changes of one revision. Liveness counts from `now.healthMs`. */
  apply(changes: Iterable<Change>, now: Now): void {
    this.#step++
    for (const change of changes) {
      this.memory.see(change, this)
      this.#apply(change, now)
    }
  }

  #apply(change: Change, now: Now): void {
    switch (change.kind) {
      case 'config-published':
        this.configs.set(change.item)
        this.gray.setFormal(change.item.key, true)
        return
      case 'config-deleted':
        this.configs.delete(change.key)
        this.gray.setFormal(change.key, false)
        return
      case 'history-imported':
        // The store alone has history.
        return
      case 'service-saved':
        this.#saveService(change.service, change.stamp, now)
        return
      case 'service-deleted':
        this.#deleteService(change.key, now)
        return
      case 'instance-saved':
        this.#saveInstance(change, now)
        return
      case 'instance-removed':
        this.#removeInstance(change, now)
        return
      case 'instance-health-changed':
        this.#changeHealth(change, now)
        return
      case 'record-saved':
      case 'record-removed':
        this.#changeRecord(change, now)
    }
  }

  *#everyInstance(): Generator<Instance> {
    for (const entry of this.services.all()) yield* entry.instances.values()
  }

  #saveService(service: Service, stamp: number, now: Now): void {
    const isNew = this.services.get(service.key) === undefined
    const entry = this.services.save(service)
    if (isNew) this.namingSizes.services.add(service.key.namespaceId, 1)
    this.#touch(entry, stamp, now)
    this.#noteEmptiness(entry, now)
  }

  #deleteService(key: ServiceKey, now: Now): void {
    const entry = this.services.get(key)
    if (entry === undefined) return
    this.namingSizes.instances.add(key.namespaceId, -entry.instances.size)
    this.namingSizes.services.add(key.namespaceId, -1)
    for (const instance of entry.instances.values()) {
      this.memory.add('instances', { heap: instanceBytes(instance.record), external: 0 }, -1)
      this.#letGo(instance, { reason: 'deregistered', atMs: now.healthMs })
      entry.delete(instance)
    }
    this.#presence.serviceLeft(entry)
    this.services.delete(key)
  }

  #saveInstance(change: InstanceSaved, now: Now): void {
    const entry = this.services.get(change.serviceKey)
    if (entry === undefined)
      throw new Error(`instance saved in unknown service ${change.serviceKey.groupedName}`)
    const known = entry.get(change.record.address)
    // The modification of an instance that expired while it was being written.
    if (known === undefined && !change.beat) return
    const instance = known ?? newInstance(entry, change)
    if (known === undefined) {
      entry.add(instance)
      this.#addresses.add(instance)
      this.namingSizes.instances.add(change.serviceKey.namespaceId, 1)
      this.#presence.metadataChanged(placeOf(instance), false, now.healthMs)
    }
    const { record: before } = instance
    if (!isSamePublisher(before.publisher, change.record.publisher) || before.claims !== change.record.claims)
      this.#presence.publishersChange(instance, change, now.healthMs)
    const isShown = known === undefined || !isOnlyOfClaims(known, change)
    if (known !== undefined) this.#count(known, -1)
    instance.record = change.record
    if (change.healthy !== undefined) instance.healthy = change.healthy
    this.#layMetadata(instance)
    this.#count(instance, 1)
    this.#presence.instanceSaved(instance, change.beat, now.healthMs)
    if (!isShown) return void this.#unseen.push(change)
    this.#touch(entry, change.stamp, now)
    this.#noteEmptiness(entry, now)
  }

  #removeInstance(change: InstanceRemoved, now: Now): void {
    const entry = this.services.get(change.serviceKey)
    const instance = entry?.get(change.address)
    if (entry === undefined || instance === undefined) return
    entry.delete(instance)
    this.#letGo(instance, { reason: change.reason, atMs: now.healthMs })
    this.namingSizes.instances.add(change.serviceKey.namespaceId, -1)
    const place = placeOf(instance)
    if (this.remembered(place) !== undefined) this.#presence.metadataChanged(place, true, now.healthMs)
    this.#touch(entry, change.stamp, now)
    this.#noteEmptiness(entry, now)
  }

  #letGo(instance: Instance, leaving: Leaving): void {
    this.#count(instance, -1)
    this.#presence.instanceLeft(instance, leaving)
    this.#addresses.delete(instance)
  }

  #changeHealth(change: InstanceHealthChanged, now: Now): void {
    const instance = this.services.get(change.serviceKey)?.get(change.address)
    if (instance === undefined || instance.healthy === change.healthy) return
    instance.healthy = change.healthy
    this.#touch(instance.entry, change.stamp, now)
    this.#presence.instanceSaved(instance, false, now.healthMs)
  }

  /** Records of some kinds change other parts of the state. */
  #changeRecord(change: RecordSaved | RecordRemoved, now: Now): void {
    if (change.recordKind === GRAY.name) this.#noteGray(change)
    const before = this.#records.record(REMEMBERED_METADATA, change.id)
    this.#records.apply(change)
    if (change.recordKind === SWITCH.name || change.recordKind === LOCAL_SWITCH.name) {
      this.#switches = switchesIn(this)
      this.#presence.announced.switched(this.#switches.clientBeatInterval)
    }
    const announced = savedValue(ANNOUNCED_INTERVAL, change)
    if (announced !== undefined) this.#presence.announced.ended(announced, now)
    if (change.recordKind === LISTS_AHEAD.name) this.#raiseLists(change.stamp)
    if (change.recordKind !== REMEMBERED_METADATA.name) return
    const next = savedValue(REMEMBERED_METADATA, change)
    const place = next ?? before
    if (place === undefined) return
    // Lists show the keys in their order: a server that starts has the order of the newest record.
    const isShown = JSON.stringify(before?.metadata ?? {}) !== JSON.stringify(next?.metadata ?? {})
    this.#metadataChanged(place, { isShown, stamp: change.stamp }, now)
    if (next?.left === true && before?.left !== true) this.#presence.leftAfterSilence(place, now.healthMs)
  }

  #noteGray(change: RecordSaved | RecordRemoved): void {
    const item = savedValue(GRAY, change)
    const gone = this.#records.record(GRAY, change.id)
    if (item !== undefined) this.gray.set(item, this.config(item.key) !== undefined)
    else if (gone !== undefined) this.gray.delete(gone.key)
  }

  #metadataChanged(
    { serviceKey, address }: InstancePlace,
    { isShown, stamp }: { readonly isShown: boolean; readonly stamp: number },
    now: Now,
  ): void {
    const instance = this.instance(serviceKey, address)
    const place = { serviceKey, address }
    const isAbsent = instance === undefined && this.remembered(place) !== undefined
    this.#presence.metadataChanged(place, isAbsent, now.healthMs)
    if (instance === undefined || !isShown) return
    this.#count(instance, -1)
    this.#layMetadata(instance)
    this.#count(instance, 1)
    this.#presence.instanceSaved(instance, false, now.healthMs)
    this.#touch(instance.entry, stamp, now)
  }

  /** Lays the remembered keys over the registered ones, and takes the timing from the result. */
  #layMetadata(instance: Instance): void {
    const over = this.remembered(placeOf(instance))?.metadata
    const { registered } = instance.record
    instance.metadata = over === undefined || isEmpty(over) ? registered : { ...registered, ...over }
    instance.timing = timingOf(instance.metadata)
  }

  /** Counts an instance, and metadata with remembered keys, which is an object of its own. */
  #count({ entry, metadata, record }: Instance, sign: 1 | -1): void {
    if (!record.ephemeral) entry.persistent += sign
    if (metadata === record.registered) return
    this.memory.add('instances', { heap: mergedBytes(metadata), external: 0 }, sign)
  }

  /** Every list moves, so that all are later than the lists of another server. They never move back. */
  #raiseLists(stamp: number): void {
    const byMs = listsAheadMs(this) - this.#listsAheadMs
    if (byMs <= 0) return
    this.#listsAheadMs += byMs
    const leastMs = msOf(stamp) + this.#listsAheadMs
    this.services.raise(leastMs, byMs)
    this.#latestRefMs = Math.max(this.#latestRefMs + byMs, leastMs)
  }

  #touch(entry: ServiceEntry, stamp: number, { wallMs }: Now): void {
    entry.changedMs = shownMsOf(stamp, wallMs)
    entry.touch(msOf(stamp) + this.#listsAheadMs, this.#step)
    if (entry.lastRefMs > this.#latestRefMs) this.#latestRefMs = entry.lastRefMs
  }

  #noteEmptiness(entry: ServiceEntry, now: Now): void {
    const isAbandoned = entry.service.madeBy === 'registration' && entry.instances.size === 0
    this.#presence.serviceChanged(entry, isAbandoned, now.healthMs)
  }
}

/** Whether a change leaves an instance as it is, and changes only the claims to its address. */
function isOnlyOfClaims({ record, healthy }: Instance, change: InstanceSaved): boolean {
  if (record.claims === undefined && change.record.claims === undefined) return false
  return (change.healthy ?? healthy) === healthy && isSameRecord(record, change.record)
}

function isEmpty(metadata: Metadata): boolean {
  for (const _name in metadata) return false
  return true
}

function placeOf({ entry, record }: Instance): InstancePlace {
  return { serviceKey: entry.service.key, address: record.address }
}
