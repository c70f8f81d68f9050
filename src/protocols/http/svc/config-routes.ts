import {
  explainGray,
  growGray,
  listGray,
  promoteGray,
  publishGray,
  readGray,
  stopGray,
} from '../endpoints/config/gray-endpoints.ts'
import type { Operations } from '../../../operations/operations.ts'
import * as fields from '../../parameters/fields.ts'
import { grayOfClients } from '../../parameters/gray-params.ts'
import { SVC_RULES, Type } from '../../parameters/schema.ts'
import { CAS_HEADER, casMd5Of, headerText, httpViewer } from '../endpoints/config/http-viewer.ts'
import {
  KEY_PARAMS,
  toConfigKey,
  comment,
  noteParams,
  type PublishLimits,
  publishParams,
  toStrictPublishRequest,
} from '../../parameters/publish-params.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import {
  aboutEndpoint,
  ABOUT_SCHEMA,
  ITEM_SCHEMA,
  itemJson,
  contentAnswers,
} from '../endpoints/config/item-json.ts'
import { cloneEndpoint, importEndpoint, type ImportLimits } from '../endpoints/transfer/import-endpoint.ts'
import { problemErrors } from '../errors/problem.ts'
import {
  ANSWERS_TRUE,
  answersJson,
  jsonAnswer,
  TRUE_JSON,
  pageJson,
  pageSchema,
  answersText,
} from '../routing/answers.ts'
import { endpoint, placeRoutes, type Route, type Endpoint } from '../routing/route.ts'
import { ANSWERS_OUTCOME, svcTransferAnswers } from './transfer-answers.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import { publishForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import {
  SEARCH_MODE,
  SEARCH_PAGE_PARAMS,
  SEARCH_PARAMS,
  searchOf,
} from '../endpoints/config/search-params.ts'
import { TEXT_BODY } from '../routing/text-body.ts'
import { EXPORT_PARAMS, exportOf } from '../endpoints/transfer/export-params.ts'

/**
 * `/svc/v1/cs/configs` and `/svc/v1/cs/history` (interface.md, Configuration management); with the further operations
 * of `/nacos`, by the same parameters.
 */
export function svcConfigRoutes(
  {
    configs,
    gray,
    transfer,
    history: records,
  }: Pick<Operations, 'configs' | 'gray' | 'transfer' | 'history'>,
  limits: PublishLimits & ImportLimits,
): Route[] {
  const json = (value: object) => jsonAnswer(value)
  const history = historyEndpoints(records, { hasJavaKeys: false, json })
  const importParts = { limits, rules: SVC_RULES, answers: svcTransferAnswers }
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/configs', readConfig(configs)],
    ['GET', '/configs', showConfig(configs)],
    ['GET', '/configs', searchConfigs(configs)],
    ['GET', '/configs', exportConfigs({ transfer }, 1)],
    ['GET', '/configs', exportConfigs({ transfer }, 2)],
    ['POST', '/configs', publish({ configs, gray }, limits)],
    ['POST', '/configs', { ...importEndpoint(transfer, importParts), answers: ANSWERS_OUTCOME }],
    ['POST', '/configs', { ...cloneEndpoint(transfer, svcTransferAnswers), answers: ANSWERS_OUTCOME }],
    ['DELETE', '/configs', remove(configs)],
    ['POST', '/configs/export', exportByForm({ transfer })],
    ['GET', '/configs/catalog', { ...aboutEndpoint(configs, json), answers: answersJson(ABOUT_SCHEMA) }],
    ['GET', '/configs/gray', listGray(gray)],
    ['GET', '/configs/gray/version', readGray(gray)],
    ['GET', '/configs/gray/explain', explainGray(gray)],
    ['POST', '/configs/gray', { ...publishGray(gray, limits), ...TEXT_BODY }],
    ['PUT', '/configs/gray', growGray(gray)],
    ['DELETE', '/configs/gray', stopGray(gray)],
    ['POST', '/configs/gray/promote', promoteGray(gray)],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

/** The names of other dialects have their meaning here, too: scripts come from there with another path alone. */
const OF_OTHER_DIALECTS = {
  tenant: Type.Optional(fields.withAliases(fields.tenant, 'namespaceId')),
  group: fields.withAliases(fields.group, 'groupName'),
  tag: Type.Optional(fields.tag),
}

function publish({ configs, gray }: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits) {
  return endpoint({
    summary:
      'Publishes a configuration item; with casMd5 only if it is the one that the client knows. With the header betaIps or a tag it is for some clients only',
    permission: configs.publish.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({
      ...publishParams(limits),
      ...noteParams({ isEmptyAValue: true }),
      comment: Type.Optional(comment),
      ...OF_OTHER_DIALECTS,
    }),
    headers: CAS_HEADER,
    ...TEXT_BODY,
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      const request = toStrictPublishRequest(params, casMd5Of(caller, params))
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: params.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return TRUE_JSON
    },
  })
}

function remove(configs: Operations['configs']) {
  return endpoint({
    summary: 'Deletes a configuration item; with casMd5 only if it is the one that the client knows',
    permission: configs.remove.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({
      ...KEY_PARAMS,
      casMd5: Type.Optional(fields.allowingEmpty(fields.casMd5)),
      comment: Type.Optional(comment),
      src_user: Type.Optional(fields.srcUser),
    }),
    headers: CAS_HEADER,
    handle: async ({ params, caller }) => {
      const [casMd5, srcUser] = [casMd5Of(caller, params), params.src_user]
      await configs.remove({ key: toConfigKey(params), casMd5, comment: params.comment, srcUser }, caller)
      return TRUE_JSON
    },
  })
}

const ANSWERS_ZIP = { 'application/octet-stream': { type: 'string', format: 'binary' } }

/** `GET /svc/v1/cs/configs`: the content of an item. */
function readConfig(configs: Operations['configs']): Endpoint {
  const answerOf = contentAnswers()
  return endpoint({
    summary: 'Reads a configuration item',
    permission: configs.view.permission,
    answers: answersText('The content, whatever its type is.'),
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => {
      const key = toConfigKey(params)
      const item = configs.view({ key, who: httpViewer(caller) }, caller)
      if (item === undefined) throw configNotFound(key)
      return answerOf(item)
    },
  })
}

/** The same path with `show=all`: all that is known of the item. */
function showConfig(configs: Operations['configs']): Endpoint {
  return endpoint({
    summary: 'Reads a configuration item with all that is known of it',
    permission: configs.read.permission,
    answers: answersJson(ITEM_SCHEMA),
    params: Type.Object({
      ...KEY_PARAMS,
      show: Type.Enum(['all'], { description: 'Everything that is known of the item, as JSON.' }),
    }),
    variant: 'show',
    handle: ({ params, caller }) => jsonAnswer(itemJson(configs.read(toConfigKey(params), caller))),
  })
}

/** The same path with `search`: a page of the items that match, each with all that is known of it. */
function searchConfigs(configs: Operations['configs']): Endpoint {
  return endpoint({
    summary: 'Searches for configuration items',
    permission: configs.search.permission,
    answers: answersJson(pageSchema('ConfigItemPage', ITEM_SCHEMA)),
    params: Type.Object({ ...SEARCH_PARAMS, ...SEARCH_PAGE_PARAMS, search: SEARCH_MODE }),
    variant: 'search',
    handle: ({ params, caller }) => {
      const search = searchOf(params, params.search)
      const { page, totalCount, items } = configs.search({ search, page: params }, caller)
      return jsonAnswer(pageJson(page, totalCount, items.map(itemJson)))
    },
  })
}

/** The same path with `export` or `exportV2`: a zip of the items that match. */
function exportConfigs({ transfer }: Pick<Operations, 'transfer'>, version: 1 | 2): Endpoint {
  const variant = version === 1 ? 'export' : 'exportV2'
  const what =
    version === 1 ? 'in the layout without types and descriptions' : 'with their types and descriptions'
  return endpoint({
    summary: `Exports items as a zip file ${what}`,
    permission: transfer.exportMatching.permission,
    answers: ANSWERS_ZIP,
    params: Type.Object({
      ...EXPORT_PARAMS,
      [variant]: Type.Optional(Type.Boolean({ description: `True: a zip file of the items, ${what}.` })),
    }),
    variant,
    handle: ({ params, caller }) => exportOf(transfer, { params, version }, caller),
  })
}

/** The ids of the most items, each character encoded, and the other fields. */
const MAX_EXPORT_FORM_BYTES = 512 * 1024

/** `POST /svc/v1/cs/configs/export`: the ids of many items are too long for an address. */
function exportByForm({ transfer }: Pick<Operations, 'transfer'>): Endpoint {
  return endpoint({
    summary: 'Exports items as a zip file with their types and descriptions; their ids may be in a form',
    permission: transfer.exportMatching.permission,
    answers: ANSWERS_ZIP,
    params: Type.Object(EXPORT_PARAMS),
    maxBodyBytes: MAX_EXPORT_FORM_BYTES,
    handle: ({ params, caller }) => exportOf(transfer, { params, version: 2 }, caller),
  })
}
