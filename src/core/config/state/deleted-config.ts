import { fieldsOf, textIn, numberIn } from '../../records/shape.ts'
import { defineRecordKind } from '../../records/record-kind.ts'
import { CONFIG_TYPES, type ConfigItem, configKey, type ConfigKey, type Operator } from './config-item.ts'
import { type ConfigNotes, NO_NOTES } from './config-notes.ts'
import type { GrayItem, GrayVersion } from './gray-version.ts'
import { ownedOperator } from './owned-operator.ts'

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
