import { linkToChange } from '../routing/key-of.ts'
import { linkTo } from '../routing/link.ts'

/** An item of an event. */
interface NamedItem {
  readonly namespaceId: string
  readonly group: string
  readonly kind: 'config' | 'naming'
  readonly name: string
}

/**
 * The item that a text names: `namespace:group:config/dataId` or `namespace:group:naming/service`. A group has no `/`, but a
 * service may be called `x:config/y`.
 */
export function namedItem(text: string): NamedItem | undefined {
  const [, namespaceId = '', group = '', kind, name = ''] =
    /^([^:]+):([^/]+):(config|naming)\/(.+)$/.exec(text) ?? []
  if (kind === undefined || name === '*') return undefined
  return { namespaceId, group, kind: kind as NamedItem['kind'], name }
}

/** Where one can look at an item. */
export function linkToItem(item: string, time: number): string | undefined {
  const named = namedItem(item)
  if (named === undefined) return undefined
  const { namespaceId, group, kind, name } = named
  const tenant = namespaceId === 'public' ? '' : namespaceId
  if (kind === 'config') return linkToChange({ tenant, group, dataId: name }, time)
  return linkTo('service', { ns: namespaceId, group, name: name.replace(/\/.*$/, '') })
}
