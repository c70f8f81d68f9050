import {
  type Change,
  type ConfigPublished,
  type InstanceSaved,
  NO_SERIAL,
} from '../../../core/decisions/changes.ts'
import type { ConfigKey } from '../../../core/config/state/config-item.ts'
import { isLocalRecord, type RecordSaved } from '../../../core/records/record-kind.ts'
import { deletedRow, hasSameRow, importedRow, itemRow, publishedRow } from './config-rows.ts'
import type { ContentPack } from './content-pack.ts'
import { instanceText } from './instance-text.ts'
import type { NameText, Write } from './messages.ts'
import { serviceRow } from './service-rows.ts'
import { type RecordRow, TABLES } from './tables.ts'

/** The write of a change; contents go into the pack. Undefined for a change that is not stored. Throws if it cannot be. */
export function writeOfChange(change: Change, pack: ContentPack): Write | undefined {
  switch (change.kind) {
    case 'config-published':
      return publishedWrite(change, pack)
    case 'config-deleted':
      return [
        'deleted',
        nameText(change.key),
        TABLES.config_revision.encode(deletedRow(change)),
        change.deleted.content.length,
      ]
    case 'history-imported': {
      const { key, content } = change.record
      const row = TABLES.config_revision.encode(importedRow(change))
      return ['recorded', nameText(key), row, pack.add(content), content.length]
    }
    case 'service-saved':
      refuseWithoutSerial(change.service)
      return ['put', 'service', TABLES.service.encode(serviceRow(change))]
    case 'service-deleted':
      return ['drop', 'service', [change.serial]]
    case 'instance-saved':
      return instanceWrite(change)
    case 'instance-removed':
      return ['instance-gone', change.serial]
    case 'instance-health-changed':
      return ['instance-health', change.serial, change.healthy]
    case 'record-saved':
      return isLocalRecord(change) ? undefined : ['put', 'record', TABLES.record.encode(recordRow(change))]
    case 'record-removed':
      return isLocalRecord(change) ? undefined : ['drop', 'record', [change.recordKind, change.id]]
    default:
      return unknownChange(change)
  }
}

/** The key of an item as it crosses to the worker. */
export function nameText(key: ConfigKey): NameText {
  return [key.namespaceId, key.group, key.dataId]
}

function publishedWrite(change: ConfigPublished, pack: ContentPack): Write {
  const { item, previous } = change
  const revision = TABLES.config_revision.encode(publishedRow(change))
  const keepsRow = previous !== undefined && hasSameRow(item, previous)
  const row = keepsRow ? undefined : TABLES.config_item.encode(itemRow(item))
  const at = pack.add(item.content)
  const before = previous?.content.length ?? 0
  return ['published', nameText(item.key), revision, row, at, item.content.length, before]
}

function instanceWrite({ record, serviceSerial, healthy }: InstanceSaved): Write {
  refuseWithoutSerial(record)
  refuseWithoutSerial({ serial: serviceSerial })
  return ['instance', record.serial, serviceSerial, healthy, instanceText(record)]
}

/** The serial is the key of the row: rows without a serial would replace each other. */
function refuseWithoutSerial({ serial }: { readonly serial: number }): void {
  if (serial === NO_SERIAL) throw new Error('A service or an instance has no serial')
}

function recordRow({ recordKind, id, value }: RecordSaved): RecordRow {
  return { recordKind, id, value: JSON.stringify(value) }
}

function unknownChange(change: never): never {
  throw new Error(`The store does not know this change: ${JSON.stringify(change)}`)
}
