import { t } from '../language/text.ts'
import type { RolePermission } from '../server/access.ts'

/** The name of a namespace for people, by its id. */
type NameOf = (id: string) => string

/** The sentence for a permission. Resources are patterns over namespace, group and name, as docs/security.md says. */
export function sentenceOf(
  { resource, action }: Pick<RolePermission, 'resource' | 'action'>,
  nameOf: NameOf,
): string {
  const [namespace = '', group = '*', name = '*'] = partsOf(resource)
  const values = { what: whatOf(name), where: whereOf(namespace, nameOf), group }
  return t(group === '*' ? `may.${action}` : `may.${action}.group`, values)
}

/** The name is all behind the second colon. */
function partsOf(resource: string): string[] {
  const [namespace = '', group = '', ...name] = resource.split(':')
  return [namespace, group === '' ? '*' : group, name.length === 0 ? '*' : name.join(':')]
}

function whereOf(namespace: string, nameOf: NameOf): string {
  if (namespace === '*') return t('everyNamespace')
  const name = nameOf(namespace === 'public' ? '' : namespace)
  return namespace.includes('*') ? t('namespacesLike', { name: namespace }) : name
}

function whatOf(name: string): string {
  const [, kind, pattern = ''] = /^(config|naming)\/(.*)$/s.exec(name) ?? []
  if (name === '*') return t('allThings')
  if (kind === undefined) return t('thingsLike', { name })
  if (pattern === '*') return t(kind === 'config' ? 'allConfigs' : 'allServices')
  return t(kind === 'config' ? 'configsLike' : 'servicesLike', { name: pattern })
}
