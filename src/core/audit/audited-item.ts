import type { Resource } from '../access/resource.ts'
import { groupOf, serviceNameOf } from '../naming/state/service.ts'
import { MOST_ITEM_CHARACTERS } from './audit-event.ts'

/** The names of an event of several items, at most, and their bytes with all that is stored beside them. */
export const MOST_NAMES = 200
const MOST_NAMES_BYTES = 8 * 1024

/**
 * The item of an event, as it is kept. It has a line for each resource, in the syntax of permissions. The first line
 * also has the item that the operation names. Its length is bounded: a last line `+5` counts the resources without a line.
 */
export function auditedItem(resources: readonly Resource[], own = ''): string {
  const [first, ...others] = resources
  // Users, roles and permissions have names of their own.
  const isOwn = own !== '' && (first?.kind === 'access' || first?.kind === 'own-account')
  const parts = [first === undefined || isOwn ? '' : textOf(first), own]
  const firstLine = lineOf(parts.filter((part) => part !== '').join('/'))
  if (others.length === 0) return firstLine
  const lines = [firstLine]
  let bytes = Buffer.byteLength(firstLine)
  for (const resource of others.slice(0, MOST_NAMES - 1)) {
    const line = lineOf(textOf(resource))
    bytes += Buffer.byteLength(line) + 1
    if (bytes > MOST_NAMES_BYTES) break
    lines.push(line)
  }
  const unnamed = resources.length - Math.max(1, lines.length)
  return [...lines, ...(unnamed > 0 ? [`+${unnamed}`] : [])].join('\n')
}

/** The item of a user, as {@link auditedItem} takes it. */
export const userItem = ({ username }: { readonly username: string }): string => `user ${username}`

/** The item of a role of a user; without a user, of all users. */
export function roleItem({
  role,
  username,
}: {
  readonly role: string
  readonly username?: string | undefined
}): string {
  return `role ${role} of ${username === undefined ? 'all users' : userItem({ username })}`
}

function lineOf(text: string): string {
  const line = text.replaceAll(/[\r\n]/g, ' ')
  return line.length > MOST_ITEM_CHARACTERS ? `${line.slice(0, MOST_ITEM_CHARACTERS - 1)}…` : line
}

/** The items of an event: their names as far as they are kept, and how many there are. */
export interface AuditedItems {
  readonly names: readonly string[]
  readonly count: number
}

/** The items of a kept event. */
export function auditedItems(item: string): AuditedItems {
  const lines = item === '' ? [] : item.split('\n')
  const [, unnamed = 0] = (lines.length > 1 && /^\+(\d+)$/.exec(lines.at(-1)!)) || []
  const names = unnamed === 0 ? lines : lines.slice(0, -1)
  return { names, count: names.length + Number(unnamed) }
}

/** The item of a kept event on one line: the first one, and how many others there are. */
export function shortItem(item: string): string {
  const { names, count } = auditedItems(item)
  const [first = ''] = names
  return count > 1 ? `${first} and ${count - 1} more` : first
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
    case 'metrics':
      return 'operator/metrics'
    case 'operator':
    case 'backup':
    case 'audit':
    case 'access':
    case 'own-account':
      return resource.kind
  }
}
