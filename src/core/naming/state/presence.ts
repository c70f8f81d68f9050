import type { InstanceAddress, InstanceRecord } from './instance.ts'
import type { RecordView } from '../../records/record-tables.ts'
import type { Service, ServiceKey } from './service.ts'
import type { ServiceEntry, Instance } from './service-entry.ts'
import type { AnnouncedInterval } from '../../switches/announced-interval.ts'

/** A service and an address in it. */
export interface InstancePlace {
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
}

/** The parts of the state that decide who has an address once its publisher leaves. */
export interface DepartureView extends RecordView {
  service(key: ServiceKey): Service | undefined
}

/** Why an instance leaves: by silence, by a deregistration, or this server does not know. */
export interface Leaving {
  readonly reason: 'deregistered' | 'expired' | 'absent'
  readonly atMs: number
}

/** The record of an instance whose publishers change. `isSilence`: because its registration over HTTP has ended by silence. */
export interface NextPublishers {
  readonly record: InstanceRecord
  readonly isSilence?: boolean
}

/**
 * The part of {@link Liveness} that State uses. State calls it after it has applied a change. All times are health times.
 */
export interface Presence {
  /** How often clients are asked to beat, and were asked before. */
  readonly announced: {
    switched(intervalMs: number): void
    ended(before: AnnouncedInterval, now: { readonly healthMs: number; readonly wallMs: number }): void
  }
  /** The state that calls it. */
  follow(view: DepartureView): void
  /** The instance is new or has changed. `isBeat`: the change counts as a beat, as a registration does. */
  instanceSaved(instance: Instance, isBeat: boolean, nowMs: number): void
  /** The publishers of the instance become the ones of `next`; its record is still the old one. */
  publishersChange(instance: Instance, next: NextPublishers, nowMs: number): void
  instanceLeft(instance: Instance, leaving: Leaving): void
  /** A client says goodbye to an address that silence has removed before. */
  leftAfterSilence(place: InstancePlace, nowMs: number): void
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
