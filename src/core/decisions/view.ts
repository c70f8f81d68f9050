import type { ConfigItem, ConfigKey } from '../config/state/config-item.ts'
import type { InstanceAddress, InstanceRecord } from '../naming/state/instance.ts'
import type { NamingLimits, NamingSizes } from '../naming/state/naming-sizes.ts'
import type { InstancePlace } from '../naming/state/presence.ts'
import type { RememberedMetadata } from '../naming/state/remembered-metadata.ts'
import type { Service, ServiceKey } from '../naming/state/service.ts'
import type { Switches } from '../switches/switches.ts'
import type { RecordView } from '../records/record-tables.ts'

/** The parts of an instance that decisions read. */
export interface KnownInstance {
  readonly record: InstanceRecord
  readonly healthy: boolean
}

/**
 * Everything that a decision may read: the state, or the state with the changes of the current batch (see `Draft`).
 * Keys are canonical.
 */
export interface View extends RecordView {
  config(key: ConfigKey): ConfigItem | undefined
  service(key: ServiceKey): Service | undefined
  instance(key: ServiceKey, address: InstanceAddress): KnownInstance | undefined
  instances(key: ServiceKey): Iterable<KnownInstance>
  instanceCount(key: ServiceKey): number
  /** The record of `REMEMBERED_METADATA` of a place. */
  remembered(place: InstancePlace): RememberedMetadata | undefined
  /** Since when a service that a registration made has no instances (health time); undefined: it has, or is kept. */
  abandonedSinceMs(key: ServiceKey): number | undefined
  /** Since when metadata is remembered at a place without an instance (health time), if it is. */
  absentSinceMs(place: InstancePlace): number | undefined
  readonly switches: Switches
  readonly namingSizes: NamingSizes
  readonly namingLimits: NamingLimits
}
