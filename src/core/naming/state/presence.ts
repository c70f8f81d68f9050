import type { InstanceAddress } from './instance.ts'
import type { ServiceKey } from './service.ts'
import type { ServiceEntry, Instance } from './service-entry.ts'

/** A service and an address in it. */
export interface InstancePlace {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
}

/**
 * The part of {@link Liveness} that State uses. State calls it after it has applied a change. All times are health times.
 */
export interface Presence {
  /** The instance is new or has changed. `isBeat`: the change counts as a beat, as a registration does. */
  instanceSaved(instance: Instance, isBeat: boolean, nowMs: number): void
  /** Another publisher takes the instance over; its record is still the old one. */
  instanceTaken(instance: Instance): void
  /** `expiredMs`: the time, if it was removed for its silence. */
  instanceLeft(instance: Instance, expiredMs: number | undefined): void
  /** `isAbandoned`: a registration made the service, and it has no instances now. */
  serviceChanged(entry: ServiceEntry, isAbandoned: boolean, nowMs: number): void
  serviceLeft(entry: ServiceEntry): void
  /** `isAbsent`: metadata is remembered at this place, and no instance is there now. */
  metadataChanged(place: InstancePlace, isAbsent: boolean, nowMs: number): void
  /** Since when a service is abandoned; undefined: it is not. */
  abandonedSinceMs(entry: ServiceEntry): number | undefined
  /** Since when metadata is remembered without an instance; undefined: it is not. */
  absentSinceMs(place: InstancePlace): number | undefined
}
