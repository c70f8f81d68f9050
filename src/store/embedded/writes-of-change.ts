import type {
  Change,
  ConfigDeleted,
  ConfigPublished,
  InstanceSaved,
  ServiceSaved,
} from '../../core/changes.ts'
import type { ConfigItem, ConfigKey } from '../../core/config/config-item.ts'
import type { InstanceAddress } from '../../core/naming/instance.ts'
import type { ServiceKey } from '../../core/naming/service.ts'
import { msOf, stampOfId } from '../../core/stamps.ts'
import type { NameText, Plain, Write } from './messages.ts'
import type { ContentPack } from './content-pack.ts'
import { instanceText } from './instance-text.ts'

/** What a change writes; contents go into the pack. Nothing for what is never written. Throws for what cannot be stored. */
export function writeOfChange(change: Change, pack: ContentPack): Write | undefined {
  switch (change.kind) {
    case 'config-published':
      return publishedWrite(change, pack)
    case 'config-deleted':
      return deletedWrite(change)
    case 'namespace-saved': {
      const { id, showName, desc } = change.namespace
      return ['put', 'namespace', [id, showName, desc]]
    }
    case 'namespace-deleted':
      return ['drop', 'namespace', [change.namespaceId]]
    case 'service-saved':
      return ['put', 'service', serviceRow(change)]
    case 'service-deleted':
      return ['drop', 'service', [change.serial]]
    case 'instance-saved':
      return instanceWrite(change)
    case 'instance-removed':
      return ['instance-gone', change.serial]
    case 'instance-health-changed':
      return ['instance-health', change.serial, change.healthy]
    case 'metadata-remembered': {
      const key = addressKey(change.serviceKey, change.address)
      return ['put', 'remembered_metadata', [...key, JSON.stringify(change.metadata), msOf(change.stamp)]]
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

function publishedWrite({ op, item, previous, operator }: ConfigPublished, pack: ContentPack): Write {
  const { origin, notes } = item
  const revision: Plain[] = [item.historyId, origin.id, op, previous?.historyId ?? null, item.md5, item.type]
  revision.push(notes.appName, notes.encryptedDataKey, operator.ip, operator.user, item.modifiedMs)
  const row = previous !== undefined && hasSameRow(item, previous) ? undefined : itemRow(item)
  return ['published', nameText(item.key), revision, row, pack.add(item.content), item.content.length]
}

/** What belongs to an item and not to one of its versions; and the version that it is written with. */
function itemRow({ origin, historyId, notes }: ConfigItem): Plain[] {
  const born = [origin.id, historyId, origin.createdMs, origin.createUser, origin.createIp]
  return [...born, notes.desc, notes.use, notes.effect, notes.schema, notes.configTags]
}

/** Whether the row of an item may stay as the version before has it. All that `itemRow` writes is compared here. */
function hasSameRow(item: ConfigItem, previous: ConfigItem): boolean {
  if (item.origin !== previous.origin) return false
  const [its, before] = [item.notes, previous.notes]
  return (
    its.desc === before.desc &&
    its.use === before.use &&
    its.effect === before.effect &&
    its.schema === before.schema &&
    its.configTags === before.configTags
  )
}

function deletedWrite({ key, deleted, historyId, operator, atMs }: ConfigDeleted): Write {
  const revision: Plain[] = [historyId, deleted.origin.id, 'D', deleted.historyId, null, null, null, null]
  revision.push(operator.ip, operator.user, atMs)
  return ['deleted', nameText(key), revision]
}

function serviceRow({ service, stamp }: ServiceSaved): Plain[] {
  const { key, serial, protectThreshold, madeBy } = service
  const row: Plain[] = [serial, key.namespaceId, key.groupedName, protectThreshold, madeBy]
  row.push(
    JSON.stringify(service.selector),
    JSON.stringify(service.clusters),
    JSON.stringify(service.metadata),
  )
  return [...row, msOf(stamp)]
}

function instanceWrite({ record, serviceSerial, healthy }: InstanceSaved): Write {
  return ['instance', record.serial, serviceSerial, healthy, instanceText(record)]
}

function addressKey(service: ServiceKey, address: InstanceAddress): Plain[] {
  return [service.namespaceId, service.groupedName, address.ip, address.port, address.cluster]
}

function unknownChange(change: never): never {
  throw new Error(`The store does not know this change: ${JSON.stringify(change)}`)
}
