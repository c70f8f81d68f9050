import type { Resource } from '../access/resource.ts'
import { groupOf, serviceNameOf } from '../naming/state/service.ts'
import { MOST_ITEM_CHARACTERS } from './audit-event.ts'

/**
 * The item of an event, of bounded length. It has the first resource in the syntax of permissions, the item that the
 * operation names, and the number of further resources.
 */
export function auditedItem(resources: readonly Resource[], own = ''): string {
  const [first] = resources
  const more = resources.length > 1 ? ` and ${resources.length - 1} more` : ''
  const text = [first === undefined ? '' : textOf(first), own].filter((part) => part !== '').join('/')
  const most = MOST_ITEM_CHARACTERS - more.length
  return `${text.length > most ? `${text.slice(0, most - 1)}…` : text}${more}`
}

function textOf(resource: Resource): string {
  switch (resource.kind) {
    case 'config': {
      const { namespaceId, group, dataId } = resource.key
      return `${namespaceId}:${group}:config/${dataId}`
    }
    case 'service': {
      const { namespaceId, groupedName } = resource.key
      return `${namespaceId}:${groupOf(groupedName)}:naming/${serviceNameOf(groupedName)}`
    }
    case 'namespace':
      return `${resource.namespaceId}:*:*`
    case 'some-configs':
      return `${resource.namespaceId ?? '*'}:*:config/*`
    case 'some-services':
      return `${resource.namespaceId ?? '*'}:*:naming/*`
    case 'some-namespaces':
      return '*:*:*'
    case 'operator':
    case 'backup':
    case 'audit':
    case 'access':
    case 'metrics':
    case 'own-account':
      return resource.kind
  }
}
