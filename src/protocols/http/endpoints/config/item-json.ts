import type { ConfigItem } from '../../../../core/config/config-item.ts'
import { toTenant } from '../../../../core/namespace-id.ts'

/** What is known of an item besides its content (http-compat.md section 3, catalog). */
export function aboutJson({ origin, modifiedMs, notes, type }: ConfigItem): object {
  return {
    createTime: origin.createdMs,
    modifyTime: modifiedMs,
    createUser: origin.createUser,
    createIp: origin.createIp,
    desc: notes.desc,
    use: notes.use,
    effect: notes.effect,
    type,
    schema: notes.schema,
    configTags: notes.configTags,
  }
}

/**
 * All fields of an item (`show=all`). It does not use spreading, which costs twice as much for this number of properties and
 * leaves 3.8 KB to the collections of the whole heap (decision 0027).
 */
export function itemJson(item: ConfigItem): object {
  const { encryptedDataKey } = item.notes
  return Object.assign(nameAndContent(item, item.md5), aboutJson(item), { encryptedDataKey })
}

/** An item of a search page, which never shows the md5. */
export function foundJson(item: ConfigItem): object {
  return nameAndContent(item, null)
}

function nameAndContent({ origin, key, content, notes, type }: ConfigItem, md5: string | null): object {
  return {
    id: String(origin.id),
    dataId: key.dataId,
    group: key.group,
    content: content.toString('utf8'),
    md5,
    tenant: toTenant(key.namespaceId),
    appName: notes.appName,
    type,
  }
}
