import type { SeenItem } from '../../../../core/config/state/config-view.ts'
import { toTenant } from '../../../../core/namespaces/namespace.ts'
import type { FoundGray } from '../../../../operations/config/gray.ts'

/** The headers about a gray version in an answer: `isBeta` for addresses, the tag as each release spells it. */
export function grayHeaders({ gray }: SeenItem): Readonly<Record<string, string>> {
  if (gray?.rule.type === 'beta') return { isBeta: 'true' }
  if (gray?.rule.type !== 'tag') return {}
  const tag = encodeURIComponent(gray.rule.expr)
  return { tag, 'Vipserver-Tag': tag }
}

/** The version for some addresses, as `beta=true` answers it. */
export function betaJson({ item, version }: FoundGray): object {
  const { dataId, group, namespaceId } = item.key
  return {
    id: String(version.id),
    dataId,
    group,
    content: item.content.toString('utf8'),
    md5: version.md5,
    encryptedDataKey: version.encryptedDataKey === '' ? null : version.encryptedDataKey,
    tenant: toTenant(namespaceId),
    appName: item.notes.appName,
    type: null,
    betaIps: version.rule.expr,
  }
}
