import { type Static, Type } from '../../parameters/schema.ts'
import type { ConfigItem } from '../../../core/config/config-item.ts'
import { toNamespaceId } from '../../../core/namespace-id.ts'
import { csJsonAnswer } from '../routing/answers.ts'
import { configNotFound, existingConfig, toConfigKey } from '../endpoints/config/config-key.ts'
import { type ConfigParts, READ_CONFIG } from '../endpoints/config/config-parts.ts'
import { contentAnswers } from '../endpoints/config/content-answers.ts'
import { itemJson } from '../endpoints/config/item-json.ts'
import { searchPage } from '../endpoints/config/search.ts'
import * as fields from '../../parameters/fields.ts'
import { operation } from '../routing/operation.ts'
import type { Answer } from '../routing/route.ts'
import { exportAnswer, type ExportWish } from '../endpoints/transfer/export-configs.ts'
import { csEnvelope, NO_CACHE } from './config-manners.ts'
import { LOOSE_KEY_PARAMS, namedKey } from './config-names.ts'

const PARAMS = Type.Object({
  ...LOOSE_KEY_PARAMS,
  tag: Type.Optional(fields.tag),
  show: Type.Optional(Type.Enum(['all'], { description: 'Everything that is known of the item, as JSON.' })),
  search: Type.Optional(Type.Enum(['accurate', 'blur'], { description: 'A page of the items that match.' })),
  pageNo: fields.withDefault(fields.pageNo, 1),
  pageSize: fields.withDefault(fields.pageSize, 100),
  appName: Type.Optional(fields.appName),
  config_tags: Type.Optional(fields.configTags),
  types: Type.Optional(
    Type.String({ maxLength: 256, description: 'In a search: types, separated by commas.' }),
  ),
  beta: Type.Optional(Type.Boolean({ description: 'The beta version of the item; there never is one.' })),
  export: Type.Optional(Type.Boolean({ description: 'A zip file of the items that match.' })),
  exportV2: Type.Optional(
    Type.Boolean({ description: 'The same, with the types and descriptions of the items.' }),
  ),
  ids: Type.Optional(
    Type.String({
      maxLength: 65_536,
      pattern: '^\\d{1,16}(,\\d{1,16})*$',
      allowed: 'ids of items, separated by commas',
      description: 'In an export: only the items of the namespace with these ids.',
    }),
  ),
})

type Params = Static<typeof PARAMS>

/** `GET /configs`: the content of an item, or what else clients ask of that path (http-compat.md section 3). */
export function readConfig({ state }: ConfigParts) {
  const answerOf = contentAnswers(moreHeaders)
  return operation({
    summary: 'Reads a configuration item, or searches for items',
    permission: READ_CONFIG,
    params: PARAMS,
    handle: ({ params }) => {
      const { dataId, group, tenant } = params
      if (isOther(params)) return answerOther(state, params)
      if (dataId !== undefined && group !== undefined && params.tag === undefined) {
        const item = state.config(toConfigKey({ dataId, group, ...(tenant !== undefined && { tenant }) }))
        if (item !== undefined) return answerOf(item)
      }
      // First of all this says what is wrong with the names, if anything is. No content has a tag.
      throw configNotFound(namedKey(params))
    },
  })
}

function isOther({ show, search, beta, export: v1, exportV2: v2 }: Params): boolean {
  return show !== undefined || search !== undefined || beta === true || v1 === true || v2 === true
}

function answerOther(state: ConfigParts['state'], params: Params): Answer {
  if (params.export === true || params.exportV2 === true) return exportAnswer(state, exportWish(params))
  if (params.show !== undefined) return csJsonAnswer(itemJson(existingConfig(state, namedKey(params))))
  if (params.search !== undefined)
    return csJsonAnswer(searchPage(state, searchOf(params, params.search), params))
  namedKey(params)
  return csEnvelope(null)
}

function searchOf(params: Params, mode: 'accurate' | 'blur') {
  return {
    namespaceId: toNamespaceId(params.tenant),
    mode,
    dataId: params.dataId ?? '',
    group: params.group ?? '',
    appName: params.appName ?? '',
    configTags: params.config_tags ?? '',
    types: (params.types ?? '').split(',').filter((type) => type !== ''),
  }
}

/** Names may be patterns, as in a blur search. */
function exportWish(params: Params): ExportWish {
  return {
    version: params.exportV2 === true ? 2 : 1,
    search: searchOf(params, 'blur'),
    ids: params.ids?.split(',').map(Number),
  }
}

function moreHeaders({ notes }: ConfigItem): Record<string, string> {
  const { encryptedDataKey } = notes
  return encryptedDataKey === '' ? NO_CACHE : { ...NO_CACHE, 'Encrypted-Data-Key': encryptedDataKey }
}
