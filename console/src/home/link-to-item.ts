import { linkToChange } from '../configs/key-of.ts'
import { linkTo } from '../routing/link.ts'

/**
 * Where one can look at it: items are called `namespace:group:config/dataId` and `namespace:group:naming/service`. A group has no `/`,
 * but a service may be called `x:config/y`.
 */
export function linkToItem(item: string, time: number): string | undefined {
  const [, namespaceId = '', group = '', kind, name = ''] =
    /^([^:]+):([^/]+):(config|naming)\/(.+)$/.exec(item) ?? []
  if (kind === undefined || name === '*') return undefined
  const tenant = namespaceId === 'public' ? '' : namespaceId
  if (kind === 'config') return linkToChange({ tenant, group, dataId: name }, time)
  return linkTo('service', { ns: namespaceId, group, name: name.replace(/\/.*$/, '') })
}
