import { addressText, type InstanceAddress } from '../naming/state/instance.ts'
import { type ServiceKey, serviceKeyText } from '../naming/state/service.ts'

/** An instance by its serial and its place: a service and an address. */
export interface PlacedInstance {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  readonly serial: number
}

/** Instances that have left and may still be on disk, by their place. Their removal is written before a new instance there. */
export class LeftInstances {
  readonly #byPlace = new Map<string, readonly PlacedInstance[]>()

  add(instance: PlacedInstance): void {
    const place = placeOf(instance)
    this.#byPlace.set(place, [...(this.#byPlace.get(place) ?? []), instance])
  }

  /** Forgets an instance, if it is kept here. */
  delete(instance: PlacedInstance): void {
    if (this.#byPlace.size === 0) return
    const place = placeOf(instance)
    const others = this.#byPlace.get(place)?.filter(({ serial }) => serial !== instance.serial) ?? []
    if (others.length > 0) this.#byPlace.set(place, others)
    else this.#byPlace.delete(place)
  }

  /** The instances that were at a place. */
  at(place: Omit<PlacedInstance, 'serial'>): readonly PlacedInstance[] {
    return this.#byPlace.size === 0 ? [] : (this.#byPlace.get(placeOf(place)) ?? [])
  }
}

function placeOf({ serviceKey, address }: Omit<PlacedInstance, 'serial'>): string {
  return `${serviceKeyText(serviceKey)} ${addressText(address)}`
}
