import type { Change, InstanceHealthChanged, InstanceSaved } from './changes.ts'
import type { ConfigItem, ConfigKey } from '../config/state/config-item.ts'
import { addressText, type InstanceAddress } from '../naming/state/instance.ts'
import { NamingCounter, type NamingLimits } from '../naming/state/naming-sizes.ts'
import type { InstancePlace } from '../naming/state/presence.ts'
import {
  REMEMBERED_METADATA,
  type RememberedMetadata,
  rememberedId,
} from '../naming/state/remembered-metadata.ts'
import { type Service, type ServiceKey, serviceKeyText } from '../naming/state/service.ts'
import { LOCAL_SWITCH, SWITCH, switchesIn } from '../switches/switch-records.ts'
import type { Switches } from '../switches/switches.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { ReadLog } from './reads.ts'
import { DraftRecords } from '../records/record-tables.ts'
import type { KnownInstance, View } from './view.ts'

/** An instance as the batch has left it; undefined: it is gone. */
interface DraftedInstance {
  readonly address: InstanceAddress
  readonly known: KnownInstance | undefined
}

/** The changes of a batch to one service so far. */
interface ServiceDraft {
  service: Service | undefined
  readonly instances: Map<string, DraftedInstance>
}

/**
 * The state with the changes of the batch that is being gathered, so that a command sees the earlier ones.
 * It holds the differences only; the state is not touched.
 */
export class Draft implements View {
  readonly #base: View
  readonly #log: ReadLog | undefined
  readonly #configs = new Map<string, ConfigItem | undefined>()
  readonly #records: DraftRecords
  readonly #services = new Map<string, ServiceDraft>()
  /** The last lookup: one command asks for the same service several times. */
  #asked: ServiceKey | undefined
  #found: ServiceDraft | undefined
  readonly namingSizes: NamingCounter

  /** `log`: notes the reads of `base`, for a store that several servers share. */
  constructor(base: View, log?: ReadLog) {
    this.#base = base
    this.#log = log
    this.#records = new DraftRecords(base, log)
    this.namingSizes = new NamingCounter(base.namingSizes)
  }

  get namingLimits(): NamingLimits {
    return this.#base.namingLimits
  }

  get switches(): Switches {
    const isChanged = this.#records.hasChanged(SWITCH) || this.#records.hasChanged(LOCAL_SWITCH)
    return isChanged ? switchesIn(this) : this.#base.switches
  }

  config(key: ConfigKey): ConfigItem | undefined {
    if (this.#configs.has(key.text)) return this.#configs.get(key.text)
    const item = this.#base.config(key)
    this.#log?.note({ of: 'config', key, found: item !== undefined })
    return item
  }

  record<T>(kind: RecordKind<T>, id: string): T | undefined {
    return this.#records.record(kind, id)
  }

  records<T>(kind: RecordKind<T>): Iterable<readonly [id: string, value: T]> {
    return this.#records.records(kind)
  }

  service(key: ServiceKey): Service | undefined {
    const draft = this.#draftAt(key)
    return draft === undefined ? this.#baseService(key) : draft.service
  }

  instance(key: ServiceKey, address: InstanceAddress): KnownInstance | undefined {
    const drafted = this.#draftAt(key)?.instances.get(addressText(address))
    return drafted === undefined ? this.#baseInstance(key, address) : drafted.known
  }

  *instances(key: ServiceKey): Generator<KnownInstance> {
    this.#noteInstances(key)
    const draft = this.#draftAt(key)
    if (draft === undefined) return yield* this.#base.instances(key)
    for (const known of this.#base.instances(key)) {
      if (!draft.instances.has(addressText(known.record.address))) yield known
    }
    for (const { known } of draft.instances.values()) if (known !== undefined) yield known
  }

  instanceCount(key: ServiceKey): number {
    this.#noteInstances(key)
    const draft = this.#draftAt(key)
    let count = this.#base.instanceCount(key)
    for (const { address, known } of draft?.instances.values() ?? []) {
      count += Number(known !== undefined) - Number(this.#base.instance(key, address) !== undefined)
    }
    return count
  }

  remembered(place: InstancePlace): RememberedMetadata | undefined {
    const isAsBefore = this.#log === undefined && !this.#records.hasChanged(REMEMBERED_METADATA)
    return isAsBefore
      ? this.#base.remembered(place)
      : this.#records.record(REMEMBERED_METADATA, rememberedId(place))
  }

  /** Undefined for a service that the batch has changed: it is not abandoned yet. */
  abandonedSinceMs(key: ServiceKey): number | undefined {
    return this.#draftAt(key) === undefined ? this.#base.abandonedSinceMs(key) : undefined
  }

  absentSinceMs(place: InstancePlace): number | undefined {
    const draft = this.#draftAt(place.serviceKey)
    const text = addressText(place.address)
    const isChanged = this.#records.hasChanged(REMEMBERED_METADATA, rememberedId(place))
    return isChanged || draft?.instances.has(text) === true ? undefined : this.#base.absentSinceMs(place)
  }

  /** Makes a change part of the draft. */
  add(change: Change): void {
    switch (change.kind) {
      case 'config-published':
        this.#configs.set(change.item.key.text, change.item)
        return
      case 'config-deleted':
        this.#configs.set(change.key.text, undefined)
        return
      case 'history-imported':
        return
      case 'service-saved':
        this.#setService(change.service.key, change.service)
        return
      case 'service-deleted':
        this.#setService(change.key, undefined)
        return
      case 'instance-saved':
        this.#saveInstance(change)
        return
      case 'instance-removed':
        this.#setInstance(change.serviceKey, change.address, undefined)
        return
      case 'instance-health-changed':
        this.#changeHealth(change)
        return
      case 'record-saved':
      case 'record-removed':
        this.#records.add(change)
    }
  }

  #setService(key: ServiceKey, service: Service | undefined): void {
    const draft = this.#draftOf(key)
    const difference = Number(service !== undefined) - Number(draft.service !== undefined)
    this.namingSizes.services.add(key.namespaceId, difference)
    draft.service = service
  }

  #saveInstance({ serviceKey, record, healthy }: InstanceSaved): void {
    this.#setInstance(serviceKey, record.address, { record, healthy })
  }

  #changeHealth({ serviceKey, address, healthy }: InstanceHealthChanged): void {
    const known = this.instance(serviceKey, address)
    if (known !== undefined) this.#setInstance(serviceKey, address, { record: known.record, healthy })
  }

  #setInstance(
    key: ServiceKey,
    address: InstanceAddress,
    next: Pick<InstanceSaved, 'record' | 'healthy'> | undefined,
  ): void {
    const { instances } = this.#draftOf(key)
    const text = addressText(address)
    const drafted = instances.get(text)
    const before = drafted === undefined ? this.#baseInstance(key, address) : drafted.known
    const known = next && { record: next.record, healthy: next.healthy ?? before?.healthy ?? true }
    this.namingSizes.instances.add(
      key.namespaceId,
      Number(known !== undefined) - Number(before !== undefined),
    )
    instances.set(text, { address, known })
  }

  #draftOf(key: ServiceKey): ServiceDraft {
    const known = this.#draftAt(key)
    if (known !== undefined) return known
    const draft: ServiceDraft = { service: this.#baseService(key), instances: new Map() }
    this.#services.set(serviceKeyText(key), draft)
    this.#found = draft
    return draft
  }

  /** The changes to a service, if there are any. */
  #draftAt(key: ServiceKey): ServiceDraft | undefined {
    if (key !== this.#asked) {
      this.#found = this.#services.get(serviceKeyText(key))
      this.#asked = key
    }
    return this.#found
  }

  #baseService(key: ServiceKey): Service | undefined {
    const service = this.#base.service(key)
    this.#log?.note({ of: 'service', key, found: service !== undefined })
    return service
  }

  #baseInstance(serviceKey: ServiceKey, address: InstanceAddress): KnownInstance | undefined {
    const known = this.#base.instance(serviceKey, address)
    this.#log?.note({ of: 'instance', serviceKey, address, found: known !== undefined })
    return known
  }

  #noteInstances(serviceKey: ServiceKey): void {
    this.#log?.note({ of: 'instances', serviceKey, none: this.#base.instanceCount(serviceKey) === 0 })
  }
}
