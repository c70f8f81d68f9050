import { contentInJson } from '../../../answers/json-content.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { CONFIG_TYPES } from '../../../../core/config/state/config-item.ts'
import { GRAY_RULE_TYPES } from '../../../../core/config/state/gray-rule.ts'
import type { DeletedConfig } from '../../../../core/config/state/deleted-config.ts'
import type { ConfigVersion } from '../../../../operations/console/config-versions.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, pageJson, pageSchema } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { KEY_PARAMS, toConfigKey, comment } from '../../../parameters/publish-params.ts'
import { SCOPE_PARAMS, scopeOf } from './namespace-scope.ts'

const PAGE_PARAMS = fields.page(20)

const WITH_GRAY = Type.Boolean({
  default: false,
  description: 'Whether the changes of gray versions are in the list, too.',
})

const historyId = fields.withDescription(fields.historyId, 'The id of the version.')

const CHANGE_FIELDS = {
  historyId: Json.string(),
  op: Json.words(['I', 'U', 'D'], 'I: made, U: updated, D: deleted.'),
  user: Json.nullable(Json.string()),
  ip: Json.string(),
  comment: Json.string(),
  atMs: Json.time(),
}

/** The further fields of a change of a gray version. */
const GRAY_CHANGE = {
  grayName: Json.optional(Json.string('The change is of the gray version of this name.')),
  grayType: Json.optional(Json.words(GRAY_RULE_TYPES)),
  grayMatchRuleExp: Json.optional(Json.string('For whom the gray version is after the change.')),
}

const VERSION = Json.named(
  'ConfigVersion',
  Json.object({
    ...CHANGE_FIELDS,
    md5: Json.nullable(Json.string('The md5 of the text after the change; null after a deletion.')),
    size: Json.nullable(Json.integer('Bytes.')),
    type: Json.nullable(Json.words(CONFIG_TYPES)),
    current: Json.boolean('Whether it is the version that clients get.'),
    promotedFrom: Json.optional(Json.string('The gray version that became the formal one by this change.')),
    ...GRAY_CHANGE,
  }),
)

const VERSION_TEXT = Json.named(
  'ConfigVersionText',
  Json.object({
    ...CHANGE_FIELDS,
    md5: Json.string(),
    size: Json.integer('Bytes.'),
    type: Json.words(CONFIG_TYPES),
    appName: Json.string(),
    encryptedDataKey: Json.string(),
    content: Json.string('The text after the change; of a deletion, the deleted one.'),
  }),
)

const RESTORED = Json.object({
  md5: Json.optional(Json.string('Absent for who may not read the item.')),
  historyId: Json.string(),
})

const DELETED = Json.named(
  'DeletedConfig',
  Json.object({
    namespaceId: Json.string(),
    dataId: Json.string(),
    group: Json.string(),
    historyId: Json.string('The version that restores it, with all its gray versions.'),
    grayVersions: Json.list(
      Json.object({
        grayName: Json.string(
          'A gray version. The item had no formal one: md5, size and type are those of the first.',
        ),
        historyId: Json.string('Its end, which has its text.'),
      }),
    ),
    type: Json.words(CONFIG_TYPES),
    appName: Json.string(),
    desc: Json.nullable(Json.string()),
    configTags: Json.nullable(Json.string()),
    size: Json.integer(),
    md5: Json.string(),
    user: Json.nullable(Json.string('The user that deleted it.')),
    ip: Json.string(),
    atMs: Json.time('When it was deleted, epoch milliseconds.'),
  }),
)

/** The versions of configurations, and the deleted ones. */
export function versionEndpoints(versions: Operations['versions']) {
  return {
    list: listVersions(versions),
    read: readVersion(versions),
    restore: restoreVersion(versions),
    bin: bin(versions),
  } satisfies Record<string, Endpoint>
}

function listVersions(versions: Operations['versions']): Endpoint {
  return endpoint({
    summary: 'Lists the versions of a configuration item, newest first: each change with the text after it',
    permission: versions.list.permission,
    answers: answersJson(pageSchema('ConfigVersionPage', VERSION)),
    params: Type.Object({ ...KEY_PARAMS, ...PAGE_PARAMS, withGray: WITH_GRAY }),
    handle: async ({ params, caller }) => {
      const request = { key: toConfigKey(params), page: params, withGray: params.withGray }
      const found = await versions.list(request, caller)
      return jsonAnswer(pageJson(found.page, found.totalCount, found.versions.map(versionJson)))
    },
  })
}

function readVersion(versions: Operations['versions']): Endpoint {
  return endpoint({
    summary: 'Reads a version of a configuration item with its text',
    permission: versions.read.permission,
    answers: answersJson(VERSION_TEXT),
    params: Type.Object({ ...KEY_PARAMS, historyId }),
    handle: async ({ params, caller }) => {
      const request = { key: toConfigKey(params), id: params.historyId }
      const { record, text, comment: why } = await versions.read(request, caller)
      const { md5, type, content, appName, encryptedDataKey } = text
      return jsonAnswer({
        ...changeJson(record, why),
        md5,
        size: content.length,
        type,
        appName,
        encryptedDataKey,
        content: contentInJson(content),
      })
    },
  })
}

function restoreVersion(versions: Operations['versions']): Endpoint {
  return endpoint({
    summary: 'Publishes the text of a version once more; of a deletion, the deleted text. It never deletes',
    permission: versions.restore.permission,
    answers: answersJson(RESTORED),
    params: Type.Object({
      ...KEY_PARAMS,
      historyId,
      casMd5: fields.allowingEmpty(fields.casMd5),
      comment: Type.Optional(comment),
      src_user: Type.Optional(fields.srcUser),
    }),
    handle: async ({ params, caller }) => {
      const { historyId: id, casMd5, src_user: srcUser } = params
      const request = { key: toConfigKey(params), id, casMd5, comment: params.comment, srcUser }
      const restored = await versions.restore(request, caller)
      return jsonAnswer({ md5: restored.md5, historyId: String(restored.historyId) })
    },
  })
}

function bin(versions: Operations['versions']): Endpoint {
  return endpoint({
    summary: 'Lists the deleted configuration items that can be restored, last deleted first',
    permission: versions.deleted.permission,
    answers: answersJson(pageSchema('DeletedConfigPage', DELETED)),
    params: Type.Object({ ...SCOPE_PARAMS, ...PAGE_PARAMS }),
    handle: ({ params, caller }) => {
      const found = versions.deleted({ namespaceId: scopeOf(params), page: params }, caller)
      return jsonAnswer(pageJson(found.page, found.totalCount, found.entries.map(deletedJson)))
    },
  })
}

function changeJson(
  { id, op, srcUser, srcIp, atMs }: Omit<ConfigVersion['entry'], 'size'>,
  why: string,
): object {
  return { historyId: String(id), op, user: srcUser, ip: srcIp, comment: why, atMs }
}

function versionJson({ entry, comment: why, text, isCurrent }: ConfigVersion): object {
  const { md5 = null, size = null, type = null } = text ?? {}
  const { gray, promotedFrom } = entry.note ?? {}
  const about = gray && { grayName: gray.name, grayType: gray.rule.type, grayMatchRuleExp: gray.rule.expr }
  return { ...changeJson(entry, why), md5, size, type, current: isCurrent, promotedFrom, ...about }
}

function deletedJson({ key, historyId: id, notes, operator, ...about }: DeletedConfig): object {
  return {
    namespaceId: key.namespaceId,
    dataId: key.dataId,
    group: key.group,
    historyId: String(id),
    grayVersions: (about.gray ?? []).map(({ name, historyId: end }) => ({
      grayName: name,
      historyId: String(end),
    })),
    type: about.type,
    appName: notes.appName,
    desc: notes.desc,
    configTags: notes.configTags,
    size: about.size,
    md5: about.md5,
    user: operator.user,
    ip: operator.ip,
    atMs: about.atMs,
  }
}
