import type { Change, InstanceSaved } from '../../../core/decisions/changes.ts'
import type { Every } from '../../../core/records/shape.ts'
import { recordKindNamed, type RecordSaved, type RecordRemoved } from '../../../core/records/record-kind.ts'
import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import type { InstanceAddress } from '../../../core/naming/state/instance.ts'
import type { ServiceKey } from '../../../core/naming/state/service.ts'
import type { Revision, Unit } from '../../../core/engine/ports.ts'
import { changedThing, type Read } from '../../../core/decisions/reads.ts'
import { stampOfChange, stampOfId } from '../../../core/decisions/stamps.ts'
import type { KeyCondition, KeyRange, TxnOperation } from '@waypost/etcd-client/messages'
import { prefixEnd } from '@waypost/etcd-client/range-end'
import type { DamagedKeys } from '../failures/damaged-keys.ts'
import { grownValue, type HistoryOfUnit } from '../history/history-cut.ts'
import type { Keys } from '../keys/keys.ts'
import { largeContents, partsOf, partsOfValue, storedRecord } from '../contents/large-contents.ts'
import { SharedTexts } from '../contents/shared-texts.ts'
import type { InstanceValue } from '../keys/stored-shapes.ts'
import { outdatedSaves } from '../../outdated-saves.ts'
import { isWrittenByCommands, placeOfRecord, rangeOfKind } from '../keys/record-places.ts'
import {
  contentValue,
  entryOf,
  instanceValue,
  itemFacts,
  itemOfRecord,
  makesRecord,
  type RecordedChange,
  serviceValue,
  toJson,
} from '../keys/values.ts'

/** A unit as one transaction of etcd. */
export interface UnitRequest {
  readonly compare: readonly KeyCondition[]
  readonly success: readonly TxnOperation[]
  /** The keys that it writes. */
  readonly keys: readonly string[]
  /** Its estimated size. */
  readonly bytes: number
}

/** The origin of a unit. */
export interface UnitOrigin {
  /** The revision at which it was decided. */
  readonly decidedAt: Revision
  /** The server that decided it. */
  readonly member: string
  /** Its place in the commit. */
  readonly index: number
  /** The effect on history; undefined: nothing is removed, and nobody counts it. */
  readonly history?: HistoryOfUnit | undefined
  /** A damaged value that `refusalOfDamage` lets pass is not there for a decision, and is replaced. */
  readonly damaged?: Pick<DamagedKeys, 'has'> | undefined
  /** The conditions that a range of history is empty; by default one. See `ForeignHistory`. */
  readonly emptyBut?: (range: KeyRange) => readonly KeyCondition[]
  /** The texts that its history records do not write; by default those of its changes. */
  readonly texts?: SharedTexts
}

/** The transaction of a unit. */
export function unitRequest(keys: Keys, { reads, changes }: Unit, origin: UnitOrigin): UnitRequest {
  const { decidedAt, damaged, texts = SharedTexts.of(changes) } = origin
  const writes = new Map<string, TxnOperation>()
  const conditions = new Map<string, KeyCondition>()
  for (const condition of [...reads, ...changes.map(changedThing)].flatMap((read, index) =>
    conditionsOf(keys, read, { decidedAt, damaged, isRead: index < reads.length }),
  )) {
    const name = `${condition.key} ${condition.of}`
    if (!conditions.has(name)) conditions.set(name, condition)
  }
  const { emptyBut = empty } = origin
  for (const range of rangesOfLaterHistory(keys, changes))
    for (const condition of emptyBut(range)) conditions.set(condition.key, condition)
  const chunks = namedChunks(keys, changes, texts)
  for (const { first } of chunks) conditions.set(first, { key: first, of: 'create', is: '>', to: 0 })
  const outdated = outdatedSaves(changes)
  for (const change of changes.filter((one) => !outdated.has(one)))
    for (const operation of operationsOf(keys, change, texts)) {
      if (operation.do !== 'put' && operation.do !== 'delete') continue
      writes.set(operation.key, operation)
      // Two servers with one stamp must not overwrite each other's history.
      if (operation.key.startsWith(keys.every('record-text')))
        conditions.set(operation.key, { key: operation.key, of: 'create', is: '=', to: 0 })
    }
  const notes = [
    ...chunks.map(({ named }) => put(named, toJson(origin.member))),
    ...silencedOperations(keys, changes, origin),
  ]
  for (const operation of notes) writes.set(operation.key, operation)
  for (const operation of historyCut(keys, origin)) writes.set(operation.key, operation)
  for (const { text: key } of origin.history?.removals ?? [])
    conditions.set(key, { key, of: 'create', is: '>', to: 0 })
  const success = [...writes.values()]
  return { compare: [...conditions.values()], success, keys: [...writes.keys()], bytes: bytesOf(success) }
}

/** The conditions of a read: the data has not changed since, and existed or did not. */
function conditionsOf(
  keys: Keys,
  read: Read,
  { decidedAt, damaged, isRead }: Pick<UnitOrigin, 'decidedAt' | 'damaged'> & { isRead: boolean },
): KeyCondition[] {
  const range = rangeOf(keys, read)
  const unchanged: KeyCondition = { ...range, of: 'mod', is: '<', to: decidedAt + 1 }
  // A key that was deleted since has the revision 0, so that its being there is compared too.
  if (!isRead || read.of === 'records') return [unchanged]
  if (read.of === 'instances') return read.none ? [{ ...range, of: 'create', is: '=', to: 0 }] : [unchanged]
  return read.found || damaged?.has(range.key) === true
    ? [unchanged, { ...range, of: 'create', is: '>', to: 0 }]
    : [{ ...range, of: 'create', is: '=', to: 0 }]
}

function rangeOf(keys: Keys, read: Read): KeyRange {
  switch (read.of) {
    case 'config':
      return { key: keys.of({ of: 'config', key: read.key }) }
    case 'record':
      return { key: keys.of(placeOfRecord(read)) }
    case 'records':
      return rangeOfKind(keys, read.recordKind)
    case 'service':
      return { key: keys.of({ of: 'service', service: read.key }) }
    case 'instance':
      return { key: keys.of({ of: 'instance', service: read.serviceKey, address: read.address }) }
    case 'instances': {
      const prefix = keys.instancesOf(read.serviceKey)
      return { key: prefix, end: prefixEnd(prefix) }
    }
  }
}

function operationsOf(keys: Keys, change: Change, texts: SharedTexts): TxnOperation[] {
  switch (change.kind) {
    case 'config-published': {
      const { item } = change
      return [
        put(keys.of({ of: 'config', key: item.key }), itemValue(item)),
        ...historyOperations(keys, change, texts),
      ]
    }
    case 'config-deleted':
      return [remove(keys.of({ of: 'config', key: change.key })), ...historyOperations(keys, change, texts)]
    case 'history-imported':
      return historyOperations(keys, change, texts)
    case 'service-saved':
      return [put(serviceKeyOf(keys, change.service.key), serviceValue(change.service, change.stamp))]
    case 'service-deleted':
      return [remove(serviceKeyOf(keys, change.key))]
    case 'instance-saved':
      return [put(instanceKeyOf(keys, change.serviceKey, change.record.address), instanceBytes(change))]
    case 'instance-removed':
      return [remove(instanceKeyOf(keys, change.serviceKey, change.address))]
    case 'instance-health-changed':
      throw new Error('A store of several servers gets instances whole.')
    case 'record-saved':
      return [put(recordKeyOf(keys, change), recordValue(change)), ...kindChanged(keys, change)]
    case 'record-removed':
      return [
        remove(recordKeyOf(keys, change)),
        ...kindChanged(keys, change),
        ...valueGone(keys, change, texts),
      ]
  }
}

/** Chunks are removed all at once: if the first exists, all exist. The chunks named here are kept. */
function namedChunks(
  keys: Keys,
  changes: readonly Change[],
  texts: SharedTexts,
): { first: string; named: string }[] {
  return largeContents(changes, texts).map(({ stamp }) => ({
    first: keys.of({ of: 'chunk', stamp, index: 0 }),
    named: keys.of({ of: 'named-chunks', stamp }),
  }))
}

/**
 * The ids of an item's history rise with any clocks: no record may be as late as these changes. An imported record may follow
 * only the one that its import knows: another server may import the same records.
 */
function rangesOfLaterHistory(keys: Keys, changes: readonly Change[]): KeyRange[] {
  const first = new Map<string, KeyRange>()
  for (const change of changes) {
    if (!makesRecord(change)) continue
    const item = itemOfRecord(change)
    const key = keys.historyOf(item)
    const end = `${keys.of({ of: 'history', key: item, stamp: firstStampAfter(change) })}\0`
    // The newest come first: the oldest of the changes has the longest range.
    const known = first.get(key)?.end
    if (known === undefined || known < end) first.set(key, { key, end })
  }
  return [...first.values()]
}

/** No record of the item may have this stamp or a later one. */
function firstStampAfter(change: RecordedChange): number {
  const own = stampOfChange(change)
  if (change.kind !== 'history-imported' || change.afterId === undefined) return own
  return Math.min(own, change.afterId === 0 ? 0 : stampOfId(change.afterId) + 1)
}

function empty(range: KeyRange): KeyCondition[] {
  return [{ ...range, of: 'create', is: '=', to: 0 }]
}

/** Marks what has changed by silence, because a key alone does not show it. */
function silencedOperations(keys: Keys, changes: readonly Change[], { member: id, index }: UnitOrigin) {
  const silenced = changes.flatMap((change) => {
    if (change.kind === 'instance-removed' && change.reason === 'expired')
      return [instanceKeyOf(keys, change.serviceKey, change.address)]
    if (change.kind === 'instance-saved' && change.isSilence === true)
      return [instanceKeyOf(keys, change.serviceKey, change.record.address)]
    return []
  })
  return silenced.length === 0 ? [] : [put(keys.of({ of: 'silenced', id, index }), toJson(silenced))]
}

function historyOperations(keys: Keys, change: RecordedChange, texts: SharedTexts): TxnOperation[] {
  const { facts, shown, parts } = storedRecord(change, texts)
  const value = contentValue({ facts, content: shown.content, parts })
  const stamp = stampOfId(facts.id)
  return [
    put(keys.of({ of: 'record-text', stamp }), value),
    put(keys.of({ of: 'history', key: facts.key, stamp }), toJson(entryOf(facts, shown.content))),
  ]
}

type Writing = Extract<TxnOperation, { do: 'put' | 'delete' }>

/** Removes the oldest records of an item, and writes the growth of history. */
function historyCut(keys: Keys, { member: id, index, history }: UnitOrigin): Writing[] {
  if (history === undefined) return []
  const grown = keys.of({ of: 'history-grown', id, index: String(index) })
  const removed = history.removals.flatMap(({ operations }) => operations)
  return [...removed.filter((one) => one.do === 'delete'), put(grown, grownValue(history.grown))]
}

function serviceKeyOf(keys: Keys, service: ServiceKey): string {
  return keys.of({ of: 'service', service })
}

function instanceKeyOf(keys: Keys, service: ServiceKey, address: InstanceAddress): string {
  return keys.of({ of: 'instance', service, address })
}

function recordKeyOf(keys: Keys, change: RecordSaved | RecordRemoved): string {
  if (!isWrittenByCommands(change.recordKind))
    throw new Error(`Records of the kind ${change.recordKind} are not written by commands.`)
  return keys.of(placeOfRecord(change))
}

/** Units that write the same key are never in one request: kinds whose records are read one by one have no key. */
function kindChanged(keys: Keys, { recordKind: kind, stamp }: RecordSaved | RecordRemoved): TxnOperation[] {
  if (recordKindNamed(kind)?.isReadOneByOne) return []
  return [put(keys.of({ of: 'kind', kind }), toJson(stamp))]
}

function recordValue(change: RecordSaved): Buffer {
  const { value, stamp } = change
  const parts = recordKindNamed(change.recordKind)?.isLarge === true && partsOfValue(change, toJson(value))
  return toJson(parts ? { parts, stamp } : { value, stamp })
}

/** Nothing names the pieces of a large value that is gone, so `ChunkCleaning` removes them; unless history keeps them. */
function valueGone(keys: Keys, { recordKind, id }: RecordRemoved, texts: SharedTexts): TxnOperation[] {
  if (recordKindNamed(recordKind)?.isLarge !== true || texts.keeps(id)) return []
  return [remove(keys.of({ of: 'named-chunks', stamp: Number(id) }))]
}

function itemValue(item: ConfigItem): Buffer {
  return contentValue({ facts: itemFacts(item), content: item.content, parts: partsOf(item) })
}

function instanceBytes({ record, healthy, beat, stamp }: InstanceSaved): Buffer {
  if (healthy === undefined) throw new Error('A store of several servers gets instances whole.')
  if (!Number.isFinite(record.weight))
    throw new Error(`The weight ${record.weight} of an instance cannot be stored`)
  const { ephemeral, publisher, weight, enabled, registered, app, claims } = record
  const stored = { ephemeral, publisher, weight, enabled, registered, app }
  const whole = stored satisfies Every<Omit<InstanceValue['record'], 'claims'>>
  const kept = claims === undefined ? whole : { ...whole, claims }
  return instanceValue(record.address, { record: kept, healthy, beat, stamp })
}

function put(key: string, value: Buffer): Extract<TxnOperation, { do: 'put' }> {
  return { do: 'put', key, value }
}

function remove(key: string): TxnOperation {
  return { do: 'delete', key }
}

function bytesOf(operations: readonly TxnOperation[]): number {
  return operations.reduce((sum, operation) => {
    if (operation.do === 'put') return sum + operation.key.length + operation.value.length + 64
    return sum + 128
  }, 0)
}
