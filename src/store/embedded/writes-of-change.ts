import type { Change, ConfigPublished, InstanceSaved } from '../../core/changes.ts'
import type { ConfigKey } from '../../core/config/config-item.ts'
import type { InstanceAddress } from '../../core/naming/instance.ts'
import type { ServiceKey } from '../../core/naming/service.ts'
import { msOf, stampOfId } from '../../core/stamps.ts'
import { deletedRow, hasSameRow, itemRow, publishedRow } from './config-rows.ts'
import type { ContentPack } from './content-pack.ts'
import { instanceText } from './instance-text.ts'
import type { NameText, Write } from './messages.ts'
import { serviceRow } from './service-rows.ts'
import type { Values } from './table.ts'
import { TABLES } from './tables.ts'

/** What a change writes; contents go into the pack. Nothing for what is never written. Throws for what cannot be stored. */
export function writeOfChange(change: Change, pack: ContentPack): Write | undefined {
  switch (change.kind) {
    case 'config-published':
      return publishedWrite(change, pack)
    case 'config-deleted':
      return ['deleted', nameText(change.key), TABLES.config_revision.encode(deletedRow(change))]
    case 'namespace-saved':
      return ['put', 'namespace', TABLES.namespace.encode(change.namespace)]
    case 'namespace-deleted':
      return ['drop', 'namespace', [change.namespaceId]]
    case 'service-saved':
      return ['put', 'service', TABLES.service.encode(serviceRow(change))]
    case 'service-deleted':
      return ['drop', 'service', [change.serial]]
    case 'instance-saved':
      return instanceWrite(change)
    case 'instance-removed':
      return ['instance-gone', change.serial]
    case 'instance-health-changed':
      return ['instance-health', change.serial, change.healthy]
    case 'metadata-remembered': {
      const { serviceKey, address, stamp } = change
      const row = { ...serviceKey, ...address, metadata: JSON.stringify(change.metadata), atMs: msOf(stamp) }
      return ['put', 'remembered_metadata', TABLES.remembered_metadata.encode(row)]
    }
    case 'metadata-forgotten':
      return ['drop', 'remembered_metadata', addressKey(change.serviceKey, change.address)]
    case 'switches-set':
      return change.localOnly ? undefined : ['switches', JSON.stringify(change.patch)]
    default:
      return unknownChange(change)
  }
}

/** The stamp of a change (`Stamps`); 0 where it has none. */
export function stampOfChange(change: Change): number {
  if (change.kind === 'config-published') return stampOfId(change.item.historyId)
  if (change.kind === 'config-deleted') return stampOfId(change.historyId)
  return 'stamp' in change ? change.stamp : 0
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
  return ['published', nameText(item.key), revision, row, pack.add(item.content), item.content.length]
}

function instanceWrite({ record, serviceSerial, healthy }: InstanceSaved): Write {
  return ['instance', record.serial, serviceSerial, healthy, instanceText(record)]
}

function addressKey(service: ServiceKey, address: InstanceAddress): Values {
  return [service.namespaceId, service.groupedName, address.ip, address.port, address.cluster]
}

function unknownChange(change: never): never {
  throw new Error(`The store does not know this change: ${JSON.stringify(change)}`)
}
