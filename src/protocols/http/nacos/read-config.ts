import { type Static, Type } from '../../parameters/schema.ts'
import { configKey } from '../../../core/config/state/config-item.ts'
import type { SeenItem } from '../../../core/config/state/config-view.ts'
import { BETA_NAME } from '../../../core/config/state/gray-rule.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { csJsonAnswer } from '../routing/answers.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import type { Caller } from '../../../operations/authorisation.ts'
import type { Operations } from '../../../operations/operations.ts'
import { contentAnswers } from '../endpoints/config/content-answers.ts'
import { itemJson, foundJson } from '../endpoints/config/item-json.ts'
import { pageJson } from '../endpoints/config/page-json.ts'
import { SEARCH_MODE, SEARCH_PAGE_PARAMS, searchOf } from '../endpoints/config/search-params.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint } from '../routing/endpoint.ts'
import type { Answer } from '../routing/answer.ts'
import { EXPORT_PARAMS, exportOf } from '../endpoints/transfer/export-params.ts'
import { betaJson, grayHeaders } from '../endpoints/config/gray-answers.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { csEnvelope, NO_CACHE } from './config-defaults.ts'
import { namedKey } from './config-names.ts'

const PARAMS = Type.Object({
  ...EXPORT_PARAMS,
  ...SEARCH_PAGE_PARAMS,
  tag: Type.Optional(fields.tag),
  show: Type.Optional(Type.Enum(['all'], { description: 'Everything that is known of the item, as JSON.' })),
  search: Type.Optional(SEARCH_MODE),
  beta: Type.Optional(Type.Boolean({ description: 'The version of the item for some addresses.' })),
  export: Type.Optional(Type.Boolean({ description: 'A zip file of the items that match.' })),
  exportV2: Type.Optional(
    Type.Boolean({ description: 'The same, with the types and descriptions of the items.' }),
  ),
})

type Params = Static<typeof PARAMS>
type ReadOperations = Pick<Operations, 'configs' | 'gray' | 'transfer'>

/** `GET /configs`: the content of an item, or another request on that path (http-compat.md section 3). */
export function readConfig(operations: ReadOperations) {
  const { configs } = operations
  const answerOf = contentAnswers(moreHeaders)
  return endpoint({
    summary: 'Reads a configuration item, or searches for items',
    permission: configs.view.permission,
    params: PARAMS,
    handle: ({ params, caller }) => {
      const { dataId, group, tenant } = params
      if (isOther(params)) return answerOther(operations, params, caller)
      if (dataId !== undefined && group !== undefined) {
        const key = configKey(toNamespaceId(tenant), group, dataId)
        const item = configs.view({ key, who: httpViewer(caller, params.tag) }, caller)
        if (item !== undefined) return answerOf(item)
      }
      // Wrong names are refused before a missing item.
      throw configNotFound(namedKey(params))
    },
  })
}

function isOther({ show, search, beta, export: v1, exportV2: v2 }: Params): boolean {
  return show !== undefined || search !== undefined || beta === true || v1 === true || v2 === true
}

function answerOther(operations: ReadOperations, params: Params, caller: Caller): Answer {
  const { configs, gray, transfer } = operations
  if (params.export === true || params.exportV2 === true)
    return exportOf(
      transfer,
      { params, version: params.exportV2 === true ? 2 : 1, fileName: () => 'nacos_config_export' },
      caller,
    )
  if (params.show !== undefined) return csJsonAnswer(itemJson(configs.read(namedKey(params), caller)))
  if (params.search !== undefined) {
    const search = searchOf(params, params.search)
    const { page, totalCount, items } = configs.search({ search, page: params }, caller)
    return csJsonAnswer(pageJson(page, totalCount, items.map(foundJson)))
  }
  const found = gray.find({ key: namedKey(params), name: BETA_NAME }, caller)
  return csEnvelope(found === undefined ? null : betaJson(found), 'query beta ok')
}

function moreHeaders(item: SeenItem): Record<string, string> {
  // Also where it is empty, as in 2.x.
  return { ...NO_CACHE, 'Encrypted-Data-Key': item.notes.encryptedDataKey, ...grayHeaders(item) }
}
