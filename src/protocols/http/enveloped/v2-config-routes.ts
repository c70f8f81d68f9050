import { contentInJson } from '../../answers/json-content.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import type { Operations } from '../../../operations/operations.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import { toConfigKey, type PublishLimits } from '../../parameters/publish-params.ts'
import {
  JAVA_ENTRY_SCHEMA,
  JAVA_RECORD_SCHEMA,
  javaEntryJson,
  javaRecordJson,
  historyEndpoints,
} from '../endpoints/config/history-endpoints.ts'
import { pageJson, pageSchema, Json, JSON_UTF8, jsonAnswer } from '../routing/answers.ts'
import { publishOfClients, removeOfClients } from '../endpoints/config/client-endpoints.ts'
import { grayHeaders } from '../endpoints/config/gray-json.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { contentHeaders } from '../endpoints/config/item-json.ts'
import { type Endpoint, endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { CONFIG_PART, answersEnvelope, enveloped, success, renamed } from './envelope.ts'

const ITEM = { namespaceId: Type.Optional(fields.tenant), dataId: fields.dataId, group: fields.group }
/** The names of parameters here, by their names in endpoints. */
const NAMES = { tenant: 'namespaceId', config_tags: 'configTags', src_user: 'srcUser' }

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
  const { previous } = historyEndpoints(history, { hasJavaKeys: true, json: (value) => jsonAnswer(value) })
  const named = (of: Endpoint): Endpoint => enveloped(renamed(of, NAMES))
  return placeRoutes(CONFIG_PART, '/nacos/v2/cs', [
    ['GET', '/config', read(configs)],
    ['POST', '/config', named(publishOfClients({ configs, gray }, limits))],
    ['DELETE', '/config', named(removeOfClients({ configs, gray }))],
    ['GET', '/history/list', versions(history)],
    ['GET', '/history', version(history)],
    ['GET', '/history/previous', named(previous)],
  ])
}

function read(configs: Operations['configs']) {
  return endpoint({
    summary: 'Reads the content of a configuration item',
    permission: configs.view.permission,
    answers: answersEnvelope(Json.string()),
    params: Type.Object({ ...ITEM, tag: Type.Optional(fields.tag) }),
    handle: ({ params, caller }) => {
      const key = keyOf(params)
      const item = configs.view({ key, who: httpViewer(caller, params.tag) }, caller)
      if (item === undefined) throw configNotFound(key)
      const { encryptedDataKey } = item.notes
      return {
        ...success(contentInJson(item.content)),
        contentType: JSON_UTF8,
        headers: { ...contentHeaders(item), 'Encrypted-Data-Key': encryptedDataKey, ...grayHeaders(item) },
      }
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
      ...fields.page(100),
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
