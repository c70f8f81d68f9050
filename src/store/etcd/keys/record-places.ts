import { ELECTED, ELECTION, MEMBER } from '../../../core/cluster/members/member-records.ts'
import { DAMAGED_ITEM } from '../../../core/config/state/damaged-item.ts'
import { DAMAGED_SERVICE } from '../../../core/naming/state/damaged-service.ts'
import { serviceKeyText } from '../../../core/naming/state/service.ts'
import { recordKindNamed } from '../../../core/records/record-kind.ts'
import type { KeyRange } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { Keys, KeyPlace } from './keys.ts'

/** The kind and id of a record. */
export interface RecordName {
  readonly recordKind: string
  readonly id: string
}

/** The place of a record. Members and the elected one have keys on the leases of their servers. */
export function placeOfRecord({ recordKind, id }: RecordName): KeyPlace {
  if (recordKind === MEMBER.name) return { of: 'member', id }
  if (recordKind === ELECTION.name) return { of: 'elected' }
  return { of: 'small-record', kind: recordKind, id }
}

/** The record at a place; undefined for other places. */
export function recordOfPlace(place: KeyPlace | undefined): RecordName | undefined {
  if (place?.of === 'member') return { recordKind: MEMBER.name, id: place.id }
  if (place?.of === 'elected') return { recordKind: ELECTION.name, id: ELECTED }
  if (place?.of === 'small-record') return { recordKind: place.kind, id: place.id }
  return undefined
}

/** The local record that marks a damaged key at a place; undefined: keys there have no such mark. */
export function markOfDamage(place: KeyPlace | undefined) {
  if (place?.of === 'config') return { kind: DAMAGED_ITEM, id: place.key.text }
  if (place?.of === 'service') return { kind: DAMAGED_SERVICE, id: serviceKeyText(place.service) }
  return undefined
}

/** Whether commands may change records of this kind. A server writes its own membership itself. */
export function isWrittenByCommands(recordKind: string): boolean {
  return recordKind !== MEMBER.name && recordKind !== ELECTION.name
}

/**
 * The keys to compare so that an added or changed record of a kind is a conflict. For most kinds, a removed record is a
 * conflict too; a lost member is not.
 */
export function rangeOfKind(keys: Keys, kind: string): KeyRange {
  if (kind === ELECTION.name) return { key: keys.of({ of: 'elected' }) }
  if (recordKindNamed(kind)?.isReadOneByOne) throw new Error(`A decision has read all records of ${kind}.`)
  if (kind !== MEMBER.name) return { key: keys.of({ of: 'kind', kind }) }
  const prefix = keys.every('member')
  return { key: prefix, end: prefixEnd(prefix) }
}
