import { configNotFound } from '../../../operations/config/configs.ts'
import { publishForAllOrSome, removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { casOfClients } from '../../parameters/cas-of-clients.ts'
import { grayOfClients } from '../../parameters/gray-of-clients.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import { casMd5Of } from '../endpoints/config/cas-md5.ts'
import { toConfigKey } from '../../parameters/config-key.ts'
import { headerText } from '../endpoints/config/header-text.ts'
import {
  JAVA_ENTRY_SCHEMA,
  JAVA_RECORD_SCHEMA,
  javaEntryJson,
  javaRecordJson,
} from '../endpoints/config/history-json.ts'
import { pageJson, pageSchema } from '../endpoints/config/page-json.ts'
import {
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../parameters/publish-params.ts'
import { grayHeaders } from '../endpoints/config/gray-answers.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { Json } from '../routing/answer-schema.ts'
import { contentHeaders } from '../endpoints/config/content-answers.ts'
import { JSON_UTF8 } from '../routing/answers.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_PART } from './defaults.ts'
import { answersEnvelope, success } from './envelope.ts'

const ITEM = { namespaceId: Type.Optional(fields.tenant), dataId: fields.dataId, group: fields.group }
const TAG = Type.Optional(fields.tag)

/** The item that a request names. */
function keyOf(params: { readonly namespaceId?: string; readonly dataId: string; readonly group: string }) {
  const { namespaceId: tenant, dataId, group } = params
  return toConfigKey({ dataId, group, ...(tenant === undefined ? {} : { tenant }) })
}

/** `/nacos/v2/cs`: items and their history (grpc-compat.md section 7). */
export function v2ConfigRoutes(
  { configs, gray, history }: Pick<Operations, 'configs' | 'gray' | 'history'>,
  limits: PublishLimits,
): Route[] {
  return placeRoutes(CONFIG_PART, '/nacos/v2/cs', [
    ['GET', '/config', read(configs)],
    ['POST', '/config', publish({ configs, gray }, limits)],
    ['DELETE', '/config', remove({ configs, gray })],
    ['GET', '/history/list', versions(history)],
    ['GET', '/history', version(history)],
    ['GET', '/history/previous', previous(history)],
  ])
}

function read(configs: Operations['configs']) {
  return endpoint({
    summary: 'Reads the content of a configuration item',
    permission: configs.view.permission,
    answers: answersEnvelope(Json.string()),
    params: Type.Object({ ...ITEM, tag: TAG }),
    handle: ({ params, caller }) => {
      const key = keyOf(params)
      const item = configs.view({ key, who: httpViewer(caller, params.tag) }, caller)
      if (item === undefined) throw configNotFound(key)
      const { encryptedDataKey } = item.notes
      return {
        ...success(item.content.toString('utf8')),
        contentType: JSON_UTF8,
        headers: { ...contentHeaders(item), 'Encrypted-Data-Key': encryptedDataKey, ...grayHeaders(item) },
      }
    },
  })
}

function publish({ configs, gray }: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits) {
  const { content, type } = publishParams(limits)
  const {
    config_tags: configTags,
    src_user: srcUser,
    casMd5: _,
    ...notes
  } = noteParams({ isEmptyAValue: false })
  return endpoint({
    summary: 'Publishes a configuration item; the header casMd5 makes it depend on the current md5',
    permission: configs.publish.permission,
    answers: answersEnvelope(Json.constant(true)),
    params: Type.Object({ ...ITEM, content, type, ...notes, configTags, srcUser, tag: TAG }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      const { namespaceId: tenant, configTags: config_tags, srcUser: src_user, ...same } = params
      const named = Object.entries({ tenant, config_tags, src_user }).filter(
        ([, value]) => value !== undefined,
      )
      const request = toPublishRequest(
        { ...same, ...Object.fromEntries(named) },
        casOfClients(casMd5Of(caller, {})),
      )
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: params.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return success(true)
    },
  })
}

function remove({ configs, gray }: Pick<Operations, 'configs' | 'gray'>) {
  return endpoint({
    summary: 'Deletes a configuration item',
    permission: configs.remove.permission,
    answers: answersEnvelope(Json.constant(true)),
    params: Type.Object({ ...ITEM, tag: TAG }),
    handle: async ({ params, caller }) => {
      await removeForAllOrSome({ configs, gray }, { key: keyOf(params), tag: params.tag }, caller)
      return success(true)
    },
  })
}

function versions(history: Operations['history']) {
  return endpoint({
    summary: 'Lists the history of a configuration item',
    permission: history.list.permission,
    answers: answersEnvelope(pageSchema('JavaHistoryPage', JAVA_ENTRY_SCHEMA)),
    params: Type.Object({
      ...ITEM,
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSize, 100),
    }),
    handle: async ({ params, caller }) => {
      const { page, totalCount, entries } = await history.list({ key: keyOf(params), page: params }, caller)
      return success(pageJson(page, totalCount, entries.map(javaEntryJson)))
    },
  })
}

function version(history: Operations['history']) {
  return endpoint({
    summary: 'Reads a record of the history of a configuration item',
    permission: history.record.permission,
    answers: answersEnvelope(JAVA_RECORD_SCHEMA),
    params: Type.Object({ ...ITEM, nid: fields.historyId }),
    handle: async ({ params, caller }) =>
      success(javaRecordJson(await history.record({ key: keyOf(params), id: params.nid }, caller))),
  })
}

function previous(history: Operations['history']) {
  return endpoint({
    summary: 'Reads the version before a history record, or before the current one',
    permission: history.previous.permission,
    answers: answersEnvelope(JAVA_RECORD_SCHEMA),
    params: Type.Object({
      ...ITEM,
      id: fields.withDescription(fields.historyId, 'The id of a history record, or of the item itself.'),
    }),
    handle: async ({ params, caller }) =>
      success(javaRecordJson(await history.previous({ key: keyOf(params), id: params.id }, caller))),
  })
}
