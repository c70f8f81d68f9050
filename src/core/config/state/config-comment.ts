import { fieldsOf, textIn, numberIn } from '../../records/shape.ts'
import { defineRecordKind, recordSaved, type RecordSaved } from '../../records/record-kind.ts'
import type { RecordView } from '../../records/record-tables.ts'
import { ownText } from '../../text/own-text.ts'
import type { GrayRule } from './gray-rule.ts'
import { CONFIG_TYPES, type ConfigItem, configKey, type ConfigKey, type Operator } from './config-item.ts'
import { type ConfigNotes, NO_NOTES } from './config-notes.ts'
import type { GrayItem, GrayVersion } from './gray-version.ts'
import { ownedOperator } from './owned-operator.ts'

/** The note beside the history record of a change. */
export interface ConfigComment {
  /** Why somebody made it; empty: nobody says. */
  readonly comment: string
  /** The text of the key of the item; absent: noted by an import, or by an earlier version. */
  readonly item?: string
  /** An import wrote the record: its id at the source, or empty where the source has no record of the change. */
  readonly importedId?: string
  /** An imported version whose own change is not known: the newest change there that it certainly has. */
  readonly importedUpTo?: string
  /** The name of the gray version that the record is of, and its rule after the change. */
  readonly gray?: GrayNote
}

/** The part of a note about the gray version of a history record. */
export interface GrayNote {
  readonly name: string
  readonly rule: GrayRule
}

/** The comments of changes, by the id of the history record. They are cleaned with the history. */
export const CONFIG_COMMENT = defineRecordKind<ConfigComment>(
  'config-comment',
  (json) => {
    const fields = fieldsOf(json)
    const { item, importedId, importedUpTo, gray } = fields
    return {
      comment: textIn(fields, 'comment'),
      ...(item === undefined ? {} : { item: textIn(fields, 'item') }),
      ...(importedId === undefined ? {} : { importedId: textIn(fields, 'importedId') }),
      ...(importedUpTo === undefined ? {} : { importedUpTo: textIn(fields, 'importedUpTo') }),
      ...(gray === undefined ? {} : { gray: fieldsOf(gray) as unknown as GrayNote }),
    }
  },
  { isReadOneByOne: true },
)

/** The history record of a change. */
interface Commented {
  readonly key: ConfigKey
  readonly historyId: number
  readonly stamp: number
}

/** The change that keeps a comment beside its change; empty without a comment. */
export function commentSaved(
  comment: string | undefined,
  { key, historyId, stamp }: Commented,
): RecordSaved[] {
  if (comment === undefined || comment === '') return []
  const value = { comment: ownText(comment), item: ownText(key.text) }
  return [recordSaved(CONFIG_COMMENT, { id: String(historyId), value, stamp })]
}

/** The change that notes which gray version a history record is about. */
export function grayChangeSaved(
  gray: GrayNote,
  { comment, key, historyId, stamp }: Commented & { readonly comment: string | undefined },
): RecordSaved {
  const value = { comment: ownText(comment ?? ''), item: ownText(key.text), gray }
  return recordSaved(CONFIG_COMMENT, { id: String(historyId), value, stamp })
}

/** The gray version that a history record is about; undefined: it is of the formal version. */
export function grayNoteOf(records: Pick<RecordView, 'record'>, historyId: number): GrayNote | undefined {
  return records.record(CONFIG_COMMENT, String(historyId))?.gray
}

/** The fields that mark a history record as imported. */
export type ImportMark = Pick<ConfigComment, 'importedId' | 'importedUpTo'>

/** The change that marks a history record as imported. */
export function importMarked(
  mark: ImportMark,
  { historyId, stamp }: { historyId: number; stamp: number },
): RecordSaved {
  return recordSaved(CONFIG_COMMENT, { id: String(historyId), value: { comment: '', ...mark }, stamp })
}

/** The id of an imported record at its origin, or empty; undefined: a record of this server. */
export function importedIdOf(records: Pick<RecordView, 'record'>, historyId: number): string | undefined {
  return records.record(CONFIG_COMMENT, String(historyId))?.importedId
}

/** The id at the source of the newest change in an imported version; empty: not known; undefined: not imported. */
export function importedUpTo(records: Pick<RecordView, 'record'>, historyId: number): string | undefined {
  const comment = records.record(CONFIG_COMMENT, String(historyId))
  return comment?.importedUpTo ?? comment?.importedId
}

/** The fields of a deleted item that history lacks, kept for as long as history has its content. */
export interface DeletedConfig {
  readonly key: ConfigKey
  /** The history record of the deletion, which has the content. */
  readonly historyId: number
  readonly atMs: number
  readonly md5: string
  readonly size: number
  readonly type: ConfigItem['type']
  /** The author of the deletion. */
  readonly operator: Operator
  /** Without the schema, which may be large, and the key of an encrypted content, which history has. */
  readonly notes: ConfigNotes
  /** The gray versions, in order, of an item without a formal one. The other fields come from the first. */
  readonly gray?: readonly DeletedGray[]
}

/** A gray version that has ended with its item. */
interface DeletedGray {
  readonly name: string
  /** The history record of its end, which has its text. */
  readonly historyId: number
}

/** The deleted items; the id of the record is the text of the item's key. A new item of the name takes its place. */
export const DELETED_CONFIG = defineRecordKind<DeletedConfig>('deleted-config', (json) => {
  const fields = fieldsOf(json)
  const { type, operator, notes, key, gray } = fields
  const { namespaceId, group, dataId } = fieldsOf(key) as Record<string, string>
  return {
    key: configKey(String(namespaceId), String(group), String(dataId)),
    historyId: numberIn(fields, 'historyId'),
    atMs: numberIn(fields, 'atMs'),
    md5: textIn(fields, 'md5'),
    size: numberIn(fields, 'size'),
    type: CONFIG_TYPES.find((one) => one === type) ?? 'text',
    operator: { ip: textIn(fieldsOf(operator), 'ip'), user: textOrNull(fieldsOf(operator)['user']) },
    notes: { ...NO_NOTES, ...(fieldsOf(notes) as Partial<ConfigNotes>) },
    ...(Array.isArray(gray) ? { gray: gray.map(deletedGrayIn) } : {}),
  }
})

function deletedGrayIn(json: unknown): DeletedGray {
  const fields = fieldsOf(json)
  return { name: textIn(fields, 'name'), historyId: numberIn(fields, 'historyId') }
}

/** The record that is kept of a deleted item. */
export function deletedConfigOf(
  { key, md5, content, type, notes }: ConfigItem,
  deletion: Pick<DeletedConfig, 'historyId' | 'atMs' | 'operator'>,
): DeletedConfig {
  const kept = { ...notes, schema: null, encryptedDataKey: '' }
  const { historyId, atMs, operator } = deletion
  return {
    key,
    md5,
    size: content.length,
    type,
    notes: kept,
    historyId,
    atMs,
    operator: ownedOperator(operator),
  }
}

/** The same of an item that had gray versions only. Their history records have the ids from `historyId` on. */
export function deletedGrayOf(
  { key, versions }: GrayItem,
  {
    historyIds,
    atMs,
    operator,
  }: { historyIds: readonly number[] } & Pick<DeletedConfig, 'atMs' | 'operator'>,
): DeletedConfig {
  const [{ md5, size, type = 'text' }] = versions as [GrayVersion]
  const gray = versions.map(({ name }, index) => ({ name, historyId: historyIds[index]! }))
  const [{ historyId }] = gray as [DeletedGray]
  return { key, md5, size, type, notes: NO_NOTES, historyId, atMs, operator: ownedOperator(operator), gray }
}

function textOrNull(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
