import { identityOf } from '../../../core/text/ip-address.ts'
import type {
  Change,
  ConfigDeleted,
  ConfigPublished,
  HistoryImported,
} from '../../../core/decisions/changes.ts'
import type { ConfigItem, ConfigKey } from '../../../core/config/state/config-item.ts'
import { historyNote, publishNote } from '../../../core/config/state/history-note.ts'
import type { HistoryEntry, HistoryRecord } from '../../../core/config/state/history-record.ts'
import type { InstanceAddress, InstanceRecord } from '../../../core/naming/state/instance.ts'
import type { Service, ServiceKey } from '../../../core/naming/state/service.ts'
import { judgeRemembered } from '../../../core/engine/remembered-values.ts'
import { type Every, fieldsOf, list, text, within } from '../../../core/records/shape.ts'
import type { KeyValue } from '@waypost/etcd-client/messages'
import { INSTALLATION, readInstallation } from './installation-name.ts'
import type { KeyPlace } from './keys.ts'
import {
  type ContentParts,
  type ItemFacts,
  type InstanceValue,
  type ServiceValue,
  type RequestValue,
  instanceShape,
  itemShape,
  partsShape,
  requestShape,
  serviceShape,
} from './stored-shapes.ts'

const LINE_END = 10

/** A value that has a content: a line of JSON, then the content or nothing. */
export interface WithContent<T> {
  readonly facts: T
  readonly content: Buffer
  /** The place of the content, if it is not in the value. */
  readonly parts: ContentParts | undefined
}

/** The facts of a history record besides its content, as a value has them. */
export interface RecordFacts extends Omit<HistoryRecord, 'content'> {
  /** An import wrote its content, which belongs to no version. The content of an insert also belongs to a version. */
  readonly ownsContent?: true
  /** Its content is in chunks that stay when the record goes: a gray version or a later record owns them. */
  readonly sharesContent?: true
}

/** A record in a page, with facts that only the store knows. */
export type StoredEntry = HistoryEntry & Pick<RecordFacts, 'ownsContent' | 'sharesContent'>

/** A change that makes a history record. */
export type RecordedChange = ConfigPublished | ConfigDeleted | HistoryImported

/** A value that is JSON. */
export function toJson(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value))
}

/** Parses a value written by {@link toJson}. */
export function fromJson(value: Uint8Array): unknown {
  return JSON.parse(bufferOf(value).toString())
}

/** The instances that a value names: silence has removed them, or the registration over HTTP of their address. */
export function silencedKeys(value: Uint8Array): string[] {
  return list(text)(fromJson(value))
}

/** The request of a value. */
export function requestOf(value: Uint8Array): RequestValue {
  return requestShape(fromJson(value))
}

/** The value of facts with a content; `parts`: the content is elsewhere. */
export function contentValue<T>({ facts, content, parts }: WithContent<T>): Buffer {
  const line = Buffer.from(`${JSON.stringify({ facts, parts })}\n`)
  return parts === undefined ? Buffer.concat([line, content]) : line
}

/** Parses a value written by {@link contentValue}. The content is a copy: the value is part of a larger buffer. */
export function withContentOf<T>(value: Uint8Array): WithContent<T> {
  const end = value.indexOf(LINE_END)
  if (end < 0) throw new Error('A value of the store has no first line.')
  const { facts, parts } = fieldsOf(fromJson(value.subarray(0, end)))
  within('facts', () => fieldsOf(facts))
  return {
    facts: facts as T,
    parts: within('parts', () => partsShape(parts)),
    content: Buffer.from(value.subarray(end + 1)),
  }
}

/** Whether a change makes a history record. */
export function makesRecord(change: Change): change is RecordedChange {
  return ['config-published', 'config-deleted', 'history-imported'].includes(change.kind)
}

/** The facts of an item for a value. */
export function itemFacts(item: ConfigItem): ItemFacts {
  const { origin, historyId, md5, type, notes, modifiedMs, imported } = item
  return { origin, historyId, md5, type, notes, modifiedMs, imported } satisfies Every<ItemFacts>
}

/** The list entry of a record with this content. */
export function entryOf(facts: RecordFacts, { length: size }: Buffer): StoredEntry {
  if (facts.ownsContent || facts.sharesContent) return { ...facts, size }
  const { id, op, atMs, key, md5, type, appName, encryptedDataKey, srcIp, srcUser, note } = facts
  const entry = { id, op, atMs, key, md5, type, appName, encryptedDataKey, srcIp, srcUser, note, size }
  return entry satisfies Every<Omit<StoredEntry, 'ownsContent' | 'sharesContent'>>
}

/** The item of a change that makes a history record. */
export function itemOfRecord(change: RecordedChange): ConfigKey {
  if (change.kind === 'history-imported') return change.record.key
  return change.kind === 'config-deleted' ? change.key : change.item.key
}

/** A content, and the history record of the change that wrote it. */
export type ShownContent = Pick<ConfigItem, 'content' | 'historyId'>

/**
 * The history record of a change and the version whose content it has. An insert has its new text, an update the text before
 * it, a deletion the deleted text.
 */
export function recordOfChange(change: RecordedChange): {
  readonly facts: RecordFacts
  readonly shown: ShownContent
} {
  if (change.kind === 'history-imported') {
    const { content, ...facts } = change.record
    return { facts: { ...facts, ownsContent: true }, shown: { content, historyId: facts.id } }
  }
  const isDeletion = change.kind === 'config-deleted'
  const shown = isDeletion ? change.deleted : (change.previous ?? change.item)
  const id = isDeletion ? change.historyId : change.item.historyId
  const op = isDeletion ? 'D' : change.op
  const atMs = isDeletion ? change.atMs : change.item.modifiedMs
  const { key, md5, type, notes } = shown
  const { appName, encryptedDataKey } = notes
  const { ip: srcIp, user: srcUser } = change.operator
  const note = isDeletion ? historyNote(change.comment) : publishNote(change)
  const facts: RecordFacts = { id, op, atMs, key, md5, type, appName, encryptedDataKey, srcIp, srcUser, note }
  return { facts, shown }
}

export function serviceValue({ key: _key, serial: _serial, ...service }: Service, stamp: number): Buffer {
  return toJson({ service, stamp } satisfies ServiceValue)
}

/** The service of a value. */
export function serviceOf(key: ServiceKey, value: Uint8Array): { service: Service; stamp: number } {
  const { service, stamp } = serviceShape(fromJson(value))
  return { service: { ...service, key, serial: 0 }, stamp }
}

export function instanceValue({ ip }: InstanceAddress, value: InstanceValue): Buffer {
  return toJson(identityOf(ip) === ip ? value : { ...value, ip })
}

/** The instance of a value, field by field as {@link itemOf}. */
export function instanceOf(
  address: InstanceAddress,
  value: Uint8Array,
): Omit<InstanceValue, 'record' | 'ip'> & { record: InstanceRecord } {
  const { record: stored, ip = address.ip, healthy, beat, stamp } = instanceShape(fromJson(value))
  const { port, cluster } = address
  const { ephemeral, publisher, weight, enabled, registered, app, claims } = stored
  const place = { ip, port, cluster }
  const made = { address: place, serial: 0, ephemeral, publisher, weight, enabled, registered, app }
  const record = made satisfies Every<Omit<InstanceRecord, 'claims'>>
  return { record: claims === undefined ? record : { ...record, claims }, healthy, beat, stamp }
}

/** The item of a value that has its content. Field by field: all servers read each change, and a spread is dear (0027). */
export function itemOf(key: ConfigKey, { facts, content }: WithContent<ItemFacts>): ConfigItem {
  const { origin, historyId, md5, type, notes, modifiedMs, imported } = within('facts', () =>
    itemShape(facts),
  )
  const item = { key, origin, historyId, content, md5, type, notes, modifiedMs, imported }
  return item satisfies Every<ConfigItem>
}

function bufferOf(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

/** Whether a key that a server keeps on its lease has none: such a member would never end. */
export function isWithoutLease({ of }: KeyPlace, { lease }: Pick<KeyValue, 'lease'>): boolean {
  return (of === 'member' || of === 'elected') && lease === 0n
}

/** Throws an Error if no server remembers this value under its name. */
export function judgedValue({ name }: { readonly name: string }, { value }: Pick<KeyValue, 'value'>): void {
  if (name === INSTALLATION) readInstallation(value)
  else judgeRemembered(name, bufferOf(value).toString())
}
