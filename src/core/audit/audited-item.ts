import type { Resource } from '../access/resource.ts'
import { groupOf, serviceNameOf } from '../naming/state/service.ts'
import { MOST_ITEM_CHARACTERS } from './audit-event.ts'

/** The names of an event of several items, at most, and their bytes with all that is stored beside them. */
export const MOST_NAMES = 200
const MOST_NAMES_BYTES = 8 * 1024

/** Before the name of an item that was left as it was. No name begins like that. */
const LEFT_MARK = '! '

/**
 * The item of an event, as it is kept. It has a line for each resource, in the syntax of permissions. The first line
 * also has the item that the operation names.
 */
export function auditedItem(resources: readonly Resource[], own = ''): string {
  const [first] = resources
  // Users, roles and permissions have names of their own.
  const isOwn = own !== '' && (first?.kind === 'access' || first?.kind === 'own-account')
  const parts = [first === undefined || isOwn ? '' : textOf(first), own]
  const firstLine = lineOf(parts.filter((part) => part !== '').join('/'))
  if (resources.length < 2) return firstLine
  const { names, count } = namesOf(resources, (one) => one)
  return itemOfNames({ changed: { names: [firstLine, ...names.slice(1)], count }, left: NO_NAMES })
}

/** Names of items, as many as an event keeps, and how many items there are. */
export interface SomeNames {
  readonly names: readonly string[]
  readonly count: number
}

/** No item. */
export const NO_NAMES: SomeNames = { names: [], count: 0 }

/** The items that an operation has changed, and the items that it was asked for and has left as they were. */
export interface NamesOfOutcome {
  readonly changed: SomeNames
  readonly left: SomeNames
}

/** The names of things: of resources in the syntax of permissions, or texts. */
export function namesOf<T>(things: readonly T[], nameOf: (thing: T) => Resource | string): SomeNames {
  const named = things.slice(0, MOST_NAMES).map(nameOf)
  return { names: named.map((one) => (typeof one === 'string' ? one : textOf(one))), count: things.length }
}

/**
 * The item of an event of several items, as it is kept: a line for each. Its length is bounded: a last line `+5` counts
 * the items without a line. The changed ones leave room for others, which are few and looked for most.
 */
export function itemOfNames({ changed, left }: NamesOfOutcome): string {
  const others = linesOf(left.names, LEFT_MARK, { names: MOST_NAMES / 2, bytes: MOST_NAMES_BYTES / 2 })
  const lines = linesOf(changed.names, '', {
    names: MOST_NAMES - others.length,
    bytes: MOST_NAMES_BYTES - Buffer.byteLength(others.join('\n')),
  })
  const unnamed = changed.count + left.count - lines.length - others.length
  return [...lines, ...others, ...(unnamed > 0 ? [`+${unnamed}`] : [])].join('\n')
}

/** The lines of names that fit. The first one always does. */
function linesOf(names: readonly string[], mark: string, room: { names: number; bytes: number }): string[] {
  const lines: string[] = []
  let bytes = 0
  for (const name of names.slice(0, room.names)) {
    const line = mark + lineOf(name)
    bytes += Buffer.byteLength(line) + 1
    if (lines.length > 0 && bytes > room.bytes) break
    lines.push(line)
  }
  return lines
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

/** The items of an event: the names that are kept, the names of items that were left as they were, and the number of items. */
export interface AuditedItems extends SomeNames {
  readonly left: readonly string[]
}

/** The items of a kept event. */
export function auditedItems(item: string): AuditedItems {
  const lines = item === '' ? [] : item.split('\n')
  const [, unnamed = 0] = (lines.length > 1 && /^\+(\d+)$/.exec(lines.at(-1)!)) || []
  const named = unnamed === 0 ? lines : lines.slice(0, -1)
  const left = named.filter((line) => line.startsWith(LEFT_MARK)).map((line) => line.slice(LEFT_MARK.length))
  const names = [...named.filter((line) => !line.startsWith(LEFT_MARK)), ...left]
  return { names, left, count: named.length + Number(unnamed) }
}

/** The item of a kept event on one line: the first one, and how many others there are. */
export function shortItem(item: string): string {
  const { names, count } = auditedItems(item)
  const [first = ''] = names
  return count > 1 ? `${first} and ${count - 1} more` : first
}

/** The item of a kept event with its first name alone: a line, and the number of the others. */
export function withOneName(item: string): string {
  const { count } = auditedItems(item)
  const [first = ''] = item.split('\n')
  return count > 1 ? `${first}\n+${count - 1}` : first
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
