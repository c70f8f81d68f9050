import type { Change, InstanceHealthChanged, InstanceSaved } from './changes.ts'
import type { ConfigItem, ConfigKey } from './config/config-item.ts'
import { addressText, type InstanceAddress, type Metadata } from './naming/instance.ts'
import { NamingCounter, type NamingLimits } from './naming/naming-sizes.ts'
import type { Place } from './naming/presence.ts'
import { type Service, type ServiceKey, serviceKeyText } from './naming/service.ts'
import type { Namespace } from './namespaces/namespace.ts'
import type { Switches } from './operator/switches.ts'
import type { KnownInstance, View } from './view.ts'

/** An instance as the batch has left it; undefined: it is gone. */
interface DraftedInstance {
  readonly address: InstanceAddress
  readonly known: KnownInstance | undefined
}

/** What a batch has changed of one service so far; undefined metadata is forgotten. */
interface ServiceDraft {
  service: Service | undefined
  readonly instances: Map<string, DraftedInstance>
  readonly remembered: Map<string, Metadata | undefined>
}

/**
 * The state with the changes of the batch that is being gathered, so that a command sees those before it.
 * It holds the differences only; the state is not touched.
 */
export class Draft implements View {
  readonly #base: View
  readonly #configs = new Map<string, ConfigItem | undefined>()
  readonly #namespaces = new Map<string, Namespace | undefined>()
  readonly #services = new Map<string, ServiceDraft>()
  readonly namingSizes: NamingCounter
  #switches: Switches

  constructor(base: View) {
    this.#base = base
    this.#switches = base.switches
    this.namingSizes = new NamingCounter(base.namingSizes)
  }

  get namingLimits(): NamingLimits {
    return this.#base.namingLimits
  }

  get switches(): Switches {
    return this.#switches
  }

  config(key: ConfigKey): ConfigItem | undefined {
    return this.#configs.has(key.text) ? this.#configs.get(key.text) : this.#base.config(key)
  }

  namespace(id: string): Namespace | undefined {
    return this.#namespaces.has(id) ? this.#namespaces.get(id) : this.#base.namespace(id)
  }

  service(key: ServiceKey): Service | undefined {
    const draft = this.#services.get(serviceKeyText(key))
    return draft === undefined ? this.#base.service(key) : draft.service
  }

  instance(key: ServiceKey, address: InstanceAddress): KnownInstance | undefined {
    const drafted = this.#services.get(serviceKeyText(key))?.instances.get(addressText(address))
    return drafted === undefined ? this.#base.instance(key, address) : drafted.known
  }

  *instances(key: ServiceKey): Generator<KnownInstance> {
    const draft = this.#services.get(serviceKeyText(key))
    if (draft === undefined) return yield* this.#base.instances(key)
    for (const known of this.#base.instances(key)) {
      if (!draft.instances.has(addressText(known.record.address))) yield known
    }
    for (const { known } of draft.instances.values()) if (known !== undefined) yield known
  }

  instanceCount(key: ServiceKey): number {
    const draft = this.#services.get(serviceKeyText(key))
    let count = this.#base.instanceCount(key)
    for (const { address, known } of draft?.instances.values() ?? []) {
      count += Number(known !== undefined) - Number(this.#base.instance(key, address) !== undefined)
    }
    return count
  }

  remembered(key: ServiceKey, address: InstanceAddress): Metadata | undefined {
    const draft = this.#services.get(serviceKeyText(key))
    const text = addressText(address)
    return draft?.remembered.has(text) ? draft.remembered.get(text) : this.#base.remembered(key, address)
  }

  /** What the batch has changed is not abandoned for any time yet. */
  abandonedSinceMs(key: ServiceKey): number | undefined {
    return this.#services.has(serviceKeyText(key)) ? undefined : this.#base.abandonedSinceMs(key)
  }

  absentSinceMs(place: Place): number | undefined {
    const draft = this.#services.get(serviceKeyText(place.serviceKey))
    const text = addressText(place.address)
    const isChanged = draft !== undefined && (draft.instances.has(text) || draft.remembered.has(text))
    return isChanged ? undefined : this.#base.absentSinceMs(place)
  }

  maybeStored(serial: number): boolean {
    return this.#base.maybeStored(serial)
  }

  surelyStored(serial: number): boolean {
    return this.#base.surelyStored(serial)
  }

  nextSerial(): number {
    return this.#base.nextSerial()
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
      case 'namespace-saved':
        this.#namespaces.set(change.namespace.id, change.namespace)
        return
      case 'namespace-deleted':
        this.#namespaces.set(change.namespaceId, undefined)
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
      case 'metadata-remembered':
        this.#draftOf(change.serviceKey).remembered.set(addressText(change.address), change.metadata)
        return
      case 'metadata-forgotten':
        this.#draftOf(change.serviceKey).remembered.set(addressText(change.address), undefined)
        return
      case 'switches-set':
        this.#switches = { ...this.#switches, ...change.patch }
    }
  }

  #setService(key: ServiceKey, service: Service | undefined): void {
    const draft = this.#draftOf(key)
    const difference = Number(service !== undefined) - Number(draft.service !== undefined)
    this.namingSizes.services.add(key.namespaceId, difference)
    draft.service = service
  }

  #saveInstance({ serviceKey, record, healthy }: InstanceSaved): void {
    const known = this.instance(serviceKey, record.address)
    this.#setInstance(serviceKey, record.address, { record, healthy: healthy ?? known?.healthy ?? true })
  }

  #changeHealth({ serviceKey, address, healthy }: InstanceHealthChanged): void {
    const known = this.instance(serviceKey, address)
    if (known !== undefined) this.#setInstance(serviceKey, address, { ...known, healthy })
  }

  #setInstance(key: ServiceKey, address: InstanceAddress, known: KnownInstance | undefined): void {
    const difference = Number(known !== undefined) - Number(this.instance(key, address) !== undefined)
    this.namingSizes.instances.add(key.namespaceId, difference)
    const kept = known === undefined ? undefined : { record: known.record, healthy: known.healthy }
    this.#draftOf(key).instances.set(addressText(address), { address, known: kept })
  }

  #draftOf(key: ServiceKey): ServiceDraft {
    const text = serviceKeyText(key)
    const known = this.#services.get(text)
    if (known !== undefined) return known
    const draft: ServiceDraft = {
      service: this.#base.service(key),
      instances: new Map(),
      remembered: new Map(),
    }
    this.#services.set(text, draft)
    return draft
  }
}
