import type {
  Change,
  InstanceHealthChanged,
  InstanceRemoved,
  InstanceSaved,
  MetadataRemembered,
} from './changes.ts'
import { ConfigTable } from './config/config-table.ts'
import type { ConfigItem, ConfigKey } from './config/config-item.ts'
import { AddressIndex } from './naming/address-index.ts'
import { timingOf } from './naming/beat-timing.ts'
import { HealthBook } from './naming/health-book.ts'
import type { Instance, InstanceAddress, Metadata } from './naming/instance.ts'
import { KnownBeats } from './naming/known-beats.ts'
import { NamingCounter, type NamingLimits, NO_NAMING_LIMITS } from './naming/naming-sizes.ts'
import { newInstance } from './naming/new-instance.ts'
import { RememberedMetadata } from './naming/remembered-metadata.ts'
import type { Service, ServiceKey } from './naming/service.ts'
import type { ServiceEntry } from './naming/service-entry.ts'
import { ServiceTable } from './naming/service-table.ts'
import type { Namespace } from './namespaces/namespace.ts'
import type { Switches } from './operator/switches.ts'
import { SwitchesInForce } from './operator/switches-in-force.ts'
import type { Now } from './ports.ts'
import { msOf } from './stamps.ts'
import { StoredSerials } from './stored-serials.ts'
import type { View } from './view.ts'

/**
 * All current knowledge, in memory, indexed for the queries. Queries read it directly and synchronously.
 * `apply` is its only writer, and the follower is the only caller of `apply` (`test/one-writer.test.ts`).
 */
export class State implements View {
  readonly configs = new ConfigTable()
  readonly services: ServiceTable
  readonly namespaces = new Map<string, Namespace>()
  readonly remembrance = new RememberedMetadata()
  readonly health = new HealthBook()
  readonly beats = new KnownBeats()
  readonly #addresses = new AddressIndex()
  /** Empty services that a registration made, in the order in which they became empty (health time). */
  readonly emptySince = new Map<ServiceEntry, number>()
  /** What the store has of all this; kept up to date by the engine. */
  readonly stored = new StoredSerials()
  readonly namingSizes = new NamingCounter()
  readonly namingLimits: NamingLimits
  readonly #switches = new SwitchesInForce()
  #lastSerial = 0
  #latestRefMs = 0
  /** Counts the revisions that were applied. */
  #step = 0

  /** `floorMs`: every `lastRefTime` is later than this (epoch ms). */
  constructor(floorMs: number, namingLimits = NO_NAMING_LIMITS) {
    this.namingLimits = namingLimits
    this.services = new ServiceTable(floorMs)
  }

  /** The switches in force: those kept, with this server's own over them. */
  get switches(): Switches {
    return this.#switches.current
  }

  /** How many instances there are, in all services. */
  get instancesInAll(): number {
    return this.namingSizes.instances.total
  }

  config(key: ConfigKey): ConfigItem | undefined {
    return this.configs.get(key)
  }

  namespace(id: string): Namespace | undefined {
    return this.namespaces.get(id)
  }

  service(key: ServiceKey): Service | undefined {
    return this.services.get(key)?.service
  }

  instance(key: ServiceKey, address: InstanceAddress): Instance | undefined {
    return this.services.get(key)?.get(address)
  }

  instances(key: ServiceKey): Iterable<Instance> {
    return this.services.get(key)?.instances.values() ?? []
  }

  instanceCount(key: ServiceKey): number {
    return this.services.get(key)?.instances.size ?? 0
  }

  remembered(key: ServiceKey, address: InstanceAddress): Metadata | undefined {
    return this.remembrance.get(key, address)?.metadata
  }

  maybeStored(serial: number): boolean {
    return this.stored.maybeStored(serial)
  }

  surelyStored(serial: number): boolean {
    return this.stored.surelyStored(serial)
  }

  /** The labels of an address in a namespace: the metadata of the instances there. */
  labelsAt(ip: string, namespaceId: string): Metadata[] {
    return this.#addresses.labelsAt(ip, namespaceId, () => this.#everyInstance())
  }

  nextSerial(): number {
    return ++this.#lastSerial
  }

  /** The latest `lastRefTime` of all services, also of those that have left. */
  get latestRefMs(): number {
    return this.#latestRefMs
  }

  /** Makes the changes of one revision part of what is known. Beats are counted from `now.healthMs`. */
  apply(changes: Iterable<Change>, now: Now): void {
    this.#step++
    for (const change of changes) this.#apply(change, now)
  }

  #apply(change: Change, now: Now): void {
    switch (change.kind) {
      case 'config-published':
        this.configs.set(change.item)
        return
      case 'config-deleted':
        this.configs.delete(change.key)
        return
      case 'namespace-saved':
        this.namespaces.set(change.namespace.id, change.namespace)
        return
      case 'namespace-deleted':
        this.namespaces.delete(change.namespaceId)
        return
      case 'service-saved':
        this.#saveService(change.service, change.stamp, now)
        return
      case 'service-deleted':
        this.#deleteService(change.key)
        return
      case 'instance-saved':
        this.#saveInstance(change, now)
        return
      case 'instance-removed':
        this.#removeInstance(change, now)
        return
      case 'instance-health-changed':
        this.#changeHealth(change)
        return
      case 'metadata-remembered':
        this.#remember(change, now)
        return
      case 'metadata-forgotten':
        this.#remember({ ...change, metadata: {} }, now)
        return
      case 'switches-set':
        this.#switches.set(change.patch, change.localOnly)
    }
  }

  *#everyInstance(): Generator<Instance> {
    for (const entry of this.services.all()) yield* entry.instances.values()
  }

  #saveService(service: Service, stamp: number, now: Now): void {
    this.#lastSerial = Math.max(this.#lastSerial, service.serial)
    const isNew = this.services.get(service.key) === undefined
    const entry = this.services.save(service)
    if (isNew) this.namingSizes.services.add(service.key.namespaceId, 1)
    this.#touch(entry, stamp)
    this.#noteEmptiness(entry, now)
  }

  #deleteService(key: ServiceKey): void {
    const entry = this.services.get(key)
    if (entry === undefined) return
    this.namingSizes.instances.add(key.namespaceId, -entry.instances.size)
    this.namingSizes.services.add(key.namespaceId, -1)
    for (const instance of entry.instances.values()) {
      this.#letGo(instance)
      entry.delete(instance)
    }
    this.emptySince.delete(entry)
    this.services.delete(key)
  }

  #saveInstance(change: InstanceSaved, now: Now): void {
    const entry = this.services.get(change.serviceKey)
    if (entry === undefined)
      throw new Error(`instance saved in unknown service ${change.serviceKey.groupedName}`)
    const known = entry.get(change.record.address)
    // A modification of what has expired while it was being written: it changed what was there, and is gone too.
    if (known === undefined && !change.beat) return
    const instance = known ?? newInstance(entry, change, now)
    if (known === undefined) {
      entry.add(instance)
      this.#addresses.add(instance)
      this.namingSizes.instances.add(change.serviceKey.namespaceId, 1)
      this.remembrance.setAbsent(change.serviceKey, change.record.address, undefined)
    }
    this.#lastSerial = Math.max(this.#lastSerial, change.record.serial)
    instance.record = change.record
    if (change.healthy !== undefined) instance.healthy = change.healthy
    if (change.beat) instance.lastBeatMs = now.healthMs
    this.#layMetadata(instance)
    this.#touch(entry, change.stamp)
    this.#noteEmptiness(entry, now)
  }

  #removeInstance(change: InstanceRemoved, now: Now): void {
    const entry = this.services.get(change.serviceKey)
    const instance = entry?.get(change.address)
    if (entry === undefined || instance === undefined) return
    entry.delete(instance)
    this.#letGo(instance)
    this.namingSizes.instances.add(change.serviceKey.namespaceId, -1)
    this.remembrance.setAbsent(change.serviceKey, change.address, now.healthMs)
    this.#touch(entry, change.stamp)
    this.#noteEmptiness(entry, now)
  }

  #letGo(instance: Instance): void {
    this.health.forget(instance)
    this.beats.forget(instance)
    this.#addresses.delete(instance)
  }

  #changeHealth(change: InstanceHealthChanged): void {
    const instance = this.services.get(change.serviceKey)?.get(change.address)
    if (instance === undefined || instance.healthy === change.healthy) return
    instance.healthy = change.healthy
    this.#touch(instance.entry, change.stamp)
    this.#watchSilence(instance)
  }

  #remember(change: Omit<MetadataRemembered, 'kind'>, now: Now): void {
    const { serviceKey, address, metadata, stamp } = change
    const instance = this.instance(serviceKey, address)
    const absentSinceMs = instance === undefined ? now.healthMs : undefined
    this.remembrance.set({ serviceKey, address, metadata, absentSinceMs })
    if (instance === undefined) return
    this.#layMetadata(instance)
    this.#touch(instance.entry, stamp)
  }

  /** Lays the remembered keys over the registered ones, and takes the timing from the result. */
  #layMetadata(instance: Instance): void {
    const over = this.remembered(instance.entry.service.key, instance.record.address)
    const { registered } = instance.record
    instance.metadata = over === undefined ? registered : { ...registered, ...over }
    instance.timing = timingOf(instance.metadata)
    this.#watchSilence(instance)
  }

  /** Only an instance whose publisher sends heartbeats expires by silence. */
  #watchSilence(instance: Instance): void {
    if (instance.record.publisher.kind === 'beats') this.health.watch(instance)
    else this.health.forget(instance)
  }

  #touch(entry: ServiceEntry, stamp: number): void {
    entry.touch(msOf(stamp), this.#step)
    if (entry.lastRefMs > this.#latestRefMs) this.#latestRefMs = entry.lastRefMs
  }

  #noteEmptiness(entry: ServiceEntry, now: Now): void {
    const leaves = entry.service.madeBy === 'registration' && entry.instances.size === 0
    if (!leaves) this.emptySince.delete(entry)
    else if (!this.emptySince.has(entry)) this.emptySince.set(entry, now.healthMs)
  }
}
