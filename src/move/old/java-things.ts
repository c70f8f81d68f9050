import { identityOf } from '../../core/text/ip-address.ts'
import type {
  PlanConfig,
  PlanGray,
  PlanHistory,
  PlanInstance,
  PlanItem,
  PlanPermission,
  PlanRole,
  PlanUser,
} from '../../plan/plan.ts'
import { isEncrypted, md5Of } from '../checks/content-lines.ts'
import {
  CallError,
  type Fields,
  fieldsOf,
  metadataOf,
  numberOf,
  textOf,
  textOrNull,
  timeOrNull,
  entriesOf,
  fieldIn,
} from './fields.ts'
import type { OldPage, OldRecord, OldService } from './dialect.ts'

/** A record of the history as both dialects of the Java server have it. */
export function historyOf(item: PlanItem, oldId: string, fields: Fields): PlanHistory | undefined {
  const op = textOf(fields['opType']).trim()
  const atMs = timeOrNull(fields['lastModifiedTime'] ?? fields['modifyTime'])
  const content = textOrNull(fields['content'])
  if ((op !== 'I' && op !== 'U' && op !== 'D') || atMs === null || content === null) return undefined
  return {
    kind: 'history',
    ...item,
    oldId,
    op,
    content,
    md5: textOrNull(fields['md5']),
    type: textOrNull(fields['type']) ?? typeIn(fields['extInfo']),
    appName: textOf(fields['appName']),
    encryptedDataKey: textOf(fields['encryptedDataKey']),
    atMs,
    user: textOrNull(fields['srcUser']) || null,
    ip: textOrNull(fields['srcIp']) || null,
  }
}

/** A record in the list of an item's history. */
export function recordOf(fields: Fields): OldRecord {
  const isGray = (textOf(fields['publishType']).trim() || 'formal') !== 'formal'
  const atMs = timeOrNull(fields['lastModifiedTime'] ?? fields['modifyTime']) ?? 0
  return {
    oldId: textOf(fields['id']),
    atMs,
    grayName: isGray ? textOf(fields['grayName']) || 'gray' : null,
  }
}

/** A database that ignores case in names finds another item, whose text must not come under this name. */
export function refuseOtherItem({ dataId, group }: PlanItem, shownId: unknown, shownGroup: unknown): void {
  const [otherId, otherGroup] = [textOrNull(shownId) ?? dataId, textOrNull(shownGroup) ?? group]
  if (otherId === dataId && otherGroup === group) return
  const shown = `${otherGroup}/${otherId}`
  throw new CallError(`the server shows ${shown} for it: its database compares names without case`, 200)
}

/** The current version of an item, of the fields that both dialects of the Java server name alike. */
export function configOf(item: PlanItem, fields: Fields): PlanConfig {
  return {
    kind: 'config',
    ...item,
    content: textOf(fields['content']),
    md5: textOrNull(fields['md5']),
    encryptedDataKey: textOf(fields['encryptedDataKey']),
    appName: textOf(fields['appName']),
    type: textOrNull(fields['type']),
    desc: textOrNull(fields['desc']),
    use: textOrNull(fields['use']),
    effect: textOrNull(fields['effect']),
    schema: textOrNull(fields['schema']),
    tags: textOrNull(fields['configTags']),
    createdMs: timeOrNull(fields['createTime']),
    modifiedMs: timeOrNull(fields['modifyTime']),
    user: textOrNull(fields['createUser']) || null,
    ip: textOrNull(fields['createIp']) || null,
  }
}

/**
 * The md5 of an item in a list. Servers before 3.x send the content instead. An item that a plugin may have encrypted
 * comes as plain text, which has another md5.
 */
export function listedMd5(fields: Fields): string | null {
  const said = textOrNull(fields['md5']) || null
  const content = textOrNull(fields['content'])
  if (said !== null || content === null || isEncrypted(textOf(fields['dataId']))) return said
  return md5Of(content)
}

/** A gray version, of the fields that all servers name alike. */
export function grayOf(
  item: PlanItem,
  fields: Fields,
  rule: Pick<PlanGray, 'name' | 'rule' | 'expression' | 'priority'>,
): PlanGray {
  return {
    kind: 'gray',
    ...item,
    ...rule,
    content: textOf(fields['content']),
    md5: textOrNull(fields['md5']),
    encryptedDataKey: textOf(fields['encryptedDataKey']),
    appName: textOf(fields['appName']),
    modifiedMs: timeOrNull(fields['modifyTime']),
  }
}

/** An instance as all servers write it. */
export function instanceOf(service: OldService, fields: Fields, seenMs: number): PlanInstance {
  return {
    kind: 'instance',
    namespace: service.namespace,
    group: service.group,
    service: service.name,
    cluster: textOf(fields['clusterName']) || 'DEFAULT',
    ip: textOf(fields['ip']),
    port: numberOf(fields['port'], 0),
    ephemeral: fields['ephemeral'] !== false,
    weight: numberOf(fields['weight'], 1),
    enabled: fields['enabled'] !== false,
    healthy: fields['healthy'] !== false,
    metadata: metadataOf(fields['metadata']),
    app: textOf(fields['app']),
    seenMs,
  }
}

/** The key of an instance in its service. */
export function instanceKey({ ip, port, cluster }: PlanInstance): string {
  return `${identityOf(ip)}#${port}#${cluster}`
}

/** A page of a list: the answer is, or has, `pageItems` and `totalCount`. */
export function pageOf<T>(answer: unknown, entryOf: (fields: Fields) => T): OldPage<T> {
  const page = fieldsOf(answer)
  const total = page['totalCount']
  const entries = entriesOf(page['pageItems'], 'pageItems', total).map(entryOf)
  return { entries, total: typeof total === 'number' ? total : null }
}

/** A user, without an invalid hash. */
export function userOf(fields: Fields): PlanUser {
  return {
    kind: 'user',
    username: textOf(fields['username']),
    passwordHash: textOrNull(fields['password']) || null,
    enabled: fields['enabled'] !== false && fields['enabled'] !== 0,
  }
}

/** A role of a user. */
export function roleOf(fields: Fields): PlanRole {
  return { kind: 'role', username: textOf(fields['username']), role: textOf(fields['role']) }
}

/** A permission of a role. */
export function permissionOf(fields: Fields): PlanPermission {
  return {
    kind: 'permission',
    role: textOf(fields['role']),
    resource: textOf(fields['resource']),
    action: textOf(fields['action']) as PlanPermission['action'],
  }
}

/** From 2.5 the history has the type in a text with JSON. */
function typeIn(extInfo: unknown): string | null {
  try {
    return typeof extInfo === 'string' ? textOrNull(fieldsOf(JSON.parse(extInfo))['type']) : null
  } catch {
    return null
  }
}

/** The switches of an answer, which must have a switch of all versions. */
export function switchesOf(answer: unknown): Fields {
  fieldIn(answer, 'pushEnabled')
  return fieldsOf(answer)
}

/** The number of live servers in a cluster's list: others cannot be read. Undefined: it is no list. */
export function livingNodes(data: unknown): number | undefined {
  if (!Array.isArray(data)) return undefined
  return data.filter((node) => fieldsOf(node)['state'] !== 'DOWN').length
}
