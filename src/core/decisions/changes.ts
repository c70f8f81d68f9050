import type { ConfigItem, ConfigKey, Operator } from '../config/state/config-item.ts'
import type { HistoryOp, HistoryRecord } from '../config/state/history-record.ts'
import type { InstanceAddress, InstanceRecord } from '../naming/state/instance.ts'
import type { Service, ServiceKey } from '../naming/state/service.ts'
import type { RecordKind, RecordRemoved, RecordSaved } from '../records/record-kind.ts'

/** The serial of a service or an instance that a decision creates: the engine gives it one (`Serials`). */
export const NO_SERIAL = 0

/** An item has a new version. `previous` is the version it replaces (op U), undefined for a new item (I). */
export interface ConfigPublished {
  readonly kind: 'config-published'
  readonly op: Exclude<HistoryOp, 'D'>
  readonly item: ConfigItem
  readonly previous: ConfigItem | undefined
  readonly operator: Operator
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
  /** The gray version whose text it is; absent: it is no promotion. */
  readonly promotedFrom?: string | undefined
}

/** An item is gone. `historyId` is the id of the history record that says so. */
export interface ConfigDeleted {
  readonly kind: 'config-deleted'
  readonly key: ConfigKey
  readonly deleted: ConfigItem
  readonly operator: Operator
  /** Epoch milliseconds, as the history shows it. */
  readonly atMs: number
  readonly historyId: number
  /** Why; absent: nobody says. */
  readonly comment?: string | undefined
}

/** An item that is not there has one more history record: one that it had elsewhere, with its own text. */
export interface HistoryImported {
  readonly kind: 'history-imported'
  readonly record: HistoryRecord
  /** The newest record that the history had when this was decided; 0: it had none. The store writes it only if that is still so. */
  readonly afterId?: number | undefined
  /** The gray text (the id of a `GRAY_TEXT`) that is its text: a store that has the one need not write the other. */
  readonly textId?: string
}

/** A service was made or changed (its whole record, without instances). */
export interface ServiceSaved {
  readonly kind: 'service-saved'
  readonly service: Service
  readonly stamp: number
}

/** A service is gone, and with it its remembered metadata stays until it expires. */
export interface ServiceDeleted {
  readonly kind: 'service-deleted'
  readonly key: ServiceKey
  readonly serial: number
}

/**
 * An instance was registered or changed: its whole record. `healthy` undefined keeps the health it has;
 * `beat` says that this counts as a beat (a registration does, a modification does not). `isSilence`: the registration over
 * HTTP has ended by silence, and others have the address.
 */
export interface InstanceSaved {
  readonly kind: 'instance-saved'
  readonly serviceKey: ServiceKey
  readonly serviceSerial: number
  readonly record: InstanceRecord
  readonly healthy: boolean | undefined
  readonly beat: boolean
  readonly isSilence?: boolean
  readonly stamp: number
}

/**
 * An instance was deregistered, replaced or has expired. `absent`: the store does not have it any more, and this server has
 * missed why.
 */
export interface InstanceRemoved {
  readonly kind: 'instance-removed'
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  readonly serial: number
  readonly reason: 'deregistered' | 'expired' | 'absent'
  readonly stamp: number
}

/** An instance became healthy or unhealthy: by beats, by a probe or by an operator. */
export interface InstanceHealthChanged {
  readonly kind: 'instance-health-changed'
  readonly serviceKey: ServiceKey
  readonly address: InstanceAddress
  readonly serial: number
  readonly healthy: boolean
  readonly stamp: number
}

/**
 * Everything that can happen, in the past tense. State.apply and the stores handle every kind. A change is never
 * modified. `stamp` is when it was decided (`Stamps`); `lastRefTime` and the ids of configurations come from stamps.
 */
export type Change =
  | ConfigPublished
  | ConfigDeleted
  | HistoryImported
  | ServiceSaved
  | ServiceDeleted
  | InstanceSaved
  | InstanceRemoved
  | InstanceHealthChanged
  | RecordSaved
  | RecordRemoved

/** A change in the feed of a shared store. A deletion lacks the deleted item: the follower has it. */
export type FedChange = Exclude<Change, ConfigDeleted> | Pick<ConfigDeleted, 'kind' | 'key' | 'historyId'>

/** The value that a change saves, if the change saves a record of this kind. */
export function savedValue<T>(kind: RecordKind<T>, change: Change): T | undefined {
  return change.kind === 'record-saved' && change.recordKind === kind.name ? (change.value as T) : undefined
}
