import { contentInJson } from '../../../answers/json-content.ts'
import { CONFIG_TYPES } from '../../../../core/config/state/config-item.ts'
import { GRAY_RULE_TYPES } from '../../../../core/config/state/gray-rule.ts'
import type { GrayItem, GrayVersion } from '../../../../core/config/state/gray-version.ts'
import { toTenant } from '../../../../core/namespaces/namespace.ts'
import type { ExplainedView, FoundGray } from '../../../../operations/config/gray.ts'
import { Json } from '../../routing/answers.ts'
import type { SeenItem } from '../../../../core/config/state/config-view.ts'

const VERSION_FIELDS = {
  id: Json.string('The id of the release: it stays while the version changes.'),
  grayName: Json.string(),
  grayType: Json.words(GRAY_RULE_TYPES),
  grayMatchRuleExp: Json.string('For whom it is.'),
  grayVersion: Json.string('The version of the expression.'),
  grayPriority: Json.integer(),
  md5: Json.string(),
  size: Json.integer('Bytes of the text.'),
  type: Json.nullable(Json.words(CONFIG_TYPES, 'Null: the type of the formal version.')),
  createTime: Json.time(),
  createUser: Json.nullable(Json.string()),
  createIp: Json.string(),
  modifyTime: Json.time(),
  modifyUser: Json.nullable(Json.string()),
  modifyIp: Json.string(),
  comment: Json.string('Why, as the newest change says.'),
}

/** The schema of `grayItemJson`. */
export const GRAY_ITEM_SCHEMA = Json.named(
  'GrayItem',
  Json.object({
    dataId: Json.string(),
    group: Json.string(),
    tenant: Json.string('The namespace; empty: public.'),
    versions: Json.list(Json.named('GrayVersion', Json.object(VERSION_FIELDS))),
  }),
)

/** The schema of `grayTextJson`. */
export const GRAY_TEXT_SCHEMA = Json.named(
  'GrayVersionText',
  Json.object({
    ...VERSION_FIELDS,
    content: Json.string(),
    encryptedDataKey: Json.string('The key of a content that a client has encrypted; else empty.'),
  }),
)

/** The schema of `explainedJson`. */
export const EXPLAINED_SCHEMA = Json.named(
  'ExplainedView',
  Json.object({
    md5: Json.string('The md5 of the text for the client; empty: it sees none.'),
    grayName: Json.nullable(Json.string('The gray version that it sees; null: the formal one, or nothing.')),
    identity: Json.string('The text that decides whether a client is in a share.'),
    versions: Json.list(
      Json.object({
        ...VERSION_FIELDS,
        isForClient: Json.boolean(),
        neededShare: Json.nullable(
          Json.number(
            'How large a share must be, in percent, so that the client is in it; null: it is for no share.',
          ),
        ),
      }),
    ),
  }),
)

/** Which version a client sees, and why. */
export function explainedJson({ md5, gray, identity, versions }: ExplainedView): object {
  return {
    md5,
    grayName: gray ?? null,
    identity,
    versions: versions.map(({ version, isForClient, neededShare = null }) => {
      return { ...versionJson(version), isForClient, neededShare }
    }),
  }
}

/** An item with its gray versions, in the order in which their rules are tried. */
export function grayItemJson({ key, versions }: GrayItem): object {
  const { dataId, group, namespaceId } = key
  return { dataId, group, tenant: toTenant(namespaceId), versions: versions.map(versionJson) }
}

/** A gray version with its text. */
export function grayTextJson({ version, item }: FoundGray): object {
  const { encryptedDataKey } = version
  return { ...versionJson(version), content: contentInJson(item.content), encryptedDataKey }
}

/** A gray version as tools of generation 3 read it; fields that the row of the reference server lacks are null. */
export function grayInfoJson({ version, item }: FoundGray): object {
  const { dataId, group, namespaceId } = item.key
  const { type, expr, version: ruleVersion, priority } = version.rule
  return {
    id: String(version.id),
    namespaceId,
    groupName: group,
    dataId,
    md5: version.md5,
    type: version.type ?? null,
    appName: item.notes.appName,
    createTime: version.createdMs,
    modifyTime: version.modifiedMs,
    content: contentInJson(item.content),
    desc: null,
    encryptedDataKey: version.encryptedDataKey === '' ? null : version.encryptedDataKey,
    createUser: version.createdBy.user,
    createIp: version.createdBy.ip,
    configTags: null,
    grayName: version.name,
    grayRule: JSON.stringify({ type, version: ruleVersion, expr, priority }),
  }
}

function versionJson(version: GrayVersion): object {
  const { rule, createdBy, modifiedBy } = version
  return {
    id: String(version.id),
    grayName: version.name,
    grayType: rule.type,
    grayMatchRuleExp: rule.expr,
    grayVersion: rule.version,
    grayPriority: rule.priority,
    md5: version.md5,
    size: version.size,
    type: version.type ?? null,
    createTime: version.createdMs,
    createUser: createdBy.user,
    createIp: createdBy.ip,
    modifyTime: version.modifiedMs,
    modifyUser: modifiedBy.user,
    modifyIp: modifiedBy.ip,
    comment: version.comment,
  }
}

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
    content: contentInJson(item.content),
    md5: version.md5,
    encryptedDataKey: version.encryptedDataKey === '' ? null : version.encryptedDataKey,
    tenant: toTenant(namespaceId),
    appName: item.notes.appName,
    type: null,
    betaIps: version.rule.expr,
  }
}
