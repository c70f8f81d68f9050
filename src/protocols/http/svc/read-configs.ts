import { configNotFound } from '../../../operations/config/configs.ts'
import type { Operations } from '../../../operations/operations.ts'
import { Type } from '../../parameters/schema.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import { contentAnswers } from '../endpoints/config/content-answers.ts'
import { httpViewer } from '../endpoints/config/http-viewer.ts'
import { ITEM_SCHEMA, itemJson } from '../endpoints/config/item-json.ts'
import { pageJson, pageSchema } from '../endpoints/config/page-json.ts'
import {
  SEARCH_MODE,
  SEARCH_PAGE_PARAMS,
  SEARCH_PARAMS,
  searchOf,
} from '../endpoints/config/search-params.ts'
import { EXPORT_PARAMS, exportOf } from '../endpoints/transfer/export-params.ts'
import { answersJson, answersText } from '../routing/answer-schema.ts'
import { jsonAnswer } from '../routing/answers.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'

const ANSWERS_ZIP = { 'application/octet-stream': { type: 'string', format: 'binary' } }

/** `GET /svc/v1/cs/configs`: the content of an item. */
export function readConfig(configs: Operations['configs']): Endpoint {
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
export function showConfig(configs: Operations['configs']): Endpoint {
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
export function searchConfigs(configs: Operations['configs']): Endpoint {
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
export function exportConfigs({ transfer }: Pick<Operations, 'transfer'>, version: 1 | 2): Endpoint {
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
