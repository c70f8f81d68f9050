import type { Operations } from '../../../../operations/operations.ts'
import type { GrayItem } from '../../../../core/config/state/gray-version.ts'
import { CONFIG_TYPES } from '../../../../core/config/state/config-item.ts'
import {
  CONFIG_ORDERS,
  type ConfigListPage,
  type ListedConfig,
} from '../../../../operations/console/config-inventory.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, pageJson, pageSchema, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { typesIn } from '../config/search-params.ts'
import { SCOPE_PARAMS, scopeOf } from './namespace-scope.ts'

const part = (what: string) => Type.Optional(Type.String({ maxLength: 256, description: what }))

const PARAMS = Type.Object({
  ...SCOPE_PARAMS,
  text: part('A part of the name, the group, the description, the application or a tag, in any case.'),
  group: Type.Optional(fields.group),
  content: part('A part of the content, in any case.'),
  key: part('A part of the path of a key in the content, such as `server.port`, in any case.'),
  types: part('Types, separated by commas.'),
  config_tags: Type.Optional(fields.configTags),
  sort: Type.Optional(Type.Enum(CONFIG_ORDERS, { description: 'modifyTime by default.' })),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'desc by default for modifyTime and size, else asc.' }),
  ),
  after: Type.Optional(
    Type.String({
      maxLength: 4096,
      description: '`next` of an answer that is not complete: the search continues there.',
    }),
  ),
  ...fields.page(50),
})

/** Lines of a content that were looked for. */
export const HITS = Json.list(
  Json.named(
    'ContentHit',
    Json.object({
      line: Json.integer('Counted from 1.'),
      text: Json.string(),
      // The secrets in the text, in order: from a character up to before another. A content over 32 KiB is covered whole.
      covered: Json.list(
        Json.named('CoveredRange', Json.object({ from: Json.integer(), to: Json.integer() })),
      ),
    }),
  ),
)

/** Where a search continues. */
export const NEXT = Json.nullable(
  Json.string(
    'After 256 MiB of contents a search ends: give this as `after` to search the others. Null where all were searched.',
  ),
)

const LISTED = Json.named(
  'ListedConfig',
  Json.object({
    id: Json.string(),
    namespaceId: Json.string('public is the default one.'),
    dataId: Json.string(),
    group: Json.string(),
    type: Json.words(CONFIG_TYPES),
    appName: Json.string(),
    desc: Json.nullable(Json.string()),
    configTags: Json.nullable(Json.string('Separated by commas.')),
    size: Json.integer('Bytes.'),
    md5: Json.string(),
    historyId: Json.string('The id of the version that clients get.'),
    createTime: Json.time(),
    modifyTime: Json.time(),
    modifyUser: Json.nullable(Json.string()),
    watcherCount: Json.integer(
      'How many clients have it, on all servers: as many as `config/watchers` lists.',
    ),
    hits: HITS,
  }),
)

/** An item with gray versions only. */
export const GRAY_ONLY = Json.named(
  'GrayOnlyConfig',
  Json.object({
    namespaceId: Json.string('public is the default one.'),
    dataId: Json.string(),
    group: Json.string(),
    grayNames: Json.list(Json.string('A gray version; the item has no formal one.')),
    modifyTime: Json.time(),
    modifyUser: Json.nullable(Json.string()),
  }),
)

const PAGE = pageSchema('ListedConfigPage', LISTED, {
  grayOnly: Json.list(GRAY_ONLY),
  grayOnlyCount: Json.integer('How many there are of these: each page has others, by their names.'),
  truncated: Json.boolean('Whether it became too much for one request: then there may be more.'),
  next: NEXT,
  missingServers: Json.list(
    Json.string('A server that has not replied in time: its clients are not counted.'),
  ),
})

/** `GET …/console/configs`: the configurations of one namespace or of all, for people. */
export function listConfigsEndpoint(inventory: Operations['inventory']): Endpoint {
  return endpoint({
    summary: 'Lists configurations by what is in their names, notes and contents, last changed first',
    permission: inventory.list.permission,
    answers: answersJson(PAGE),
    params: PARAMS,
    handle: async ({ params, caller }) => {
      const { text = '', group = '', content = '', key = '', types, config_tags: tags = '' } = params
      const { sort = 'modifyTime', order = sort === 'modifyTime' || sort === 'size' ? 'desc' : 'asc' } =
        params
      const request = {
        namespaceId: scopeOf(params),
        text,
        group,
        content,
        key,
        configTags: tags,
        types: typesIn(types),
        sort,
        isDescending: order === 'desc',
        page: params,
        after: params.after === undefined ? undefined : Buffer.from(params.after, 'base64url').toString(),
      }
      const found = await inventory.list(request, caller)
      return withMissing(jsonAnswer(inventoryJson(found)), found.missingServers)
    },
  })
}

function inventoryJson({ page, totalCount, isTruncated, next, ...found }: ConfigListPage): object {
  const listed = pageJson(page, totalCount, found.entries.map(listedJson))
  const { missingServers, grayOnly, grayOnlyCount } = found
  return {
    ...listed,
    grayOnly: grayOnly.map(grayOnlyJson),
    grayOnlyCount,
    truncated: isTruncated,
    next: nextJson(next),
    missingServers,
  }
}

/** The key of the last item that was searched, in letters that need no escaping. */
export function nextJson(next: string | undefined): string | null {
  return next === undefined ? null : Buffer.from(next).toString('base64url')
}

/** As {@link GRAY_ONLY}. */
export function grayOnlyJson({ key, versions }: GrayItem): object {
  const { namespaceId, dataId, group } = key
  const newest = versions.reduce((last, one) => (one.modifiedMs > last.modifiedMs ? one : last))
  const grayNames = versions.map(({ name }) => name)
  const { modifiedMs: modifyTime, modifiedBy } = newest
  return { namespaceId, dataId, group, grayNames, modifyTime, modifyUser: modifiedBy.user }
}

function listedJson({ item, modifyUser, watcherCount, hits }: ListedConfig): object {
  const { key, origin, type, notes, content, md5, historyId, modifiedMs } = item
  return {
    id: String(origin.id),
    namespaceId: key.namespaceId,
    dataId: key.dataId,
    group: key.group,
    type,
    appName: notes.appName,
    desc: notes.desc,
    configTags: notes.configTags,
    size: content.length,
    md5,
    historyId: String(historyId),
    createTime: origin.createdMs,
    modifyTime: modifiedMs,
    modifyUser,
    watcherCount,
    hits,
  }
}
