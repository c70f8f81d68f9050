import { Type, type Static, NACOS_CONFIG_RULES } from '../../parameters/schema.ts'
import { publishForAllOrSome, removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { CS_TRUE_JSON, csJsonAnswer, pageJson } from '../routing/answers.ts'
import { casMd5Of, headerText, httpViewer } from '../endpoints/config/http-viewer.ts'
import { aboutEndpoint, itemJson, foundJson, contentAnswers } from '../endpoints/config/item-json.ts'
import {
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
  KEY_PARAMS,
  toConfigKey,
} from '../../parameters/publish-params.ts'
import { casOfClients, grayOfClients } from '../../parameters/gray-params.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes, type Route, type Answer } from '../routing/route.ts'
import { CONFIG_DEFAULTS, csEnvelope, NO_CACHE } from './config-defaults.ts'
import { nacosMessage } from './nacos-errors.ts'
import { REFUSALS } from '../../refusals/refusals.ts'
import { Refusal } from '../../../core/refusal.ts'
import {
  LOOSE_KEY_PARAMS,
  SEARCH_MODE,
  SEARCH_PAGE_PARAMS,
  searchOf,
} from '../endpoints/config/search-params.ts'
import { BETA_NAME } from '../../../core/config/state/gray-rule.ts'
import { type ConfigKey, configKey } from '../../../core/config/state/config-item.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import type { SeenItem } from '../../../core/config/state/config-view.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import { idsLeft, type Removal } from '../../../operations/config/remove-configs.ts'
import type { Caller } from '../../../operations/authorisation.ts'
import { EXPORT_PARAMS, exportOf } from '../endpoints/transfer/export-params.ts'
import { betaJson, grayHeaders } from '../endpoints/config/gray-json.ts'

/** `/nacos/v1/cs/configs` and `/nacos/v1/cs/history`, as for the reference server (http-compat.md sections 1 and 3). */
export function nacosConfigRoutes(
  {
    configs,
    gray,
    transfer,
    removal,
    history: records,
  }: Pick<Operations, 'configs' | 'gray' | 'transfer' | 'removal' | 'history'>,
  limits: PublishLimits,
): Route[] {
  const history = historyEndpoints(records, { hasJavaKeys: true, json: csJsonAnswer })
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['GET', '/configs', readConfig({ configs, gray, transfer })],
    ['POST', '/configs', publish({ configs, gray }, limits)],
    ['DELETE', '/configs', removeConfig({ configs, gray, removal })],
    ['GET', '/configs/catalog', aboutEndpoint(configs, (value) => csEnvelope(value))],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

function publish({ configs, gray }: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits) {
  return endpoint({
    summary:
      'Publishes a configuration item; the header casMd5 makes it depend on the current md5. With the header betaIps or a tag it is for some clients only',
    permission: configs.publish.permission,
    params: Type.Object({
      ...publishParams(limits),
      ...noteParams({ isEmptyAValue: false }),
      tag: Type.Optional(fields.tag),
      import: Type.Optional(Type.Boolean({ description: 'True, in the query: imports a zip file.' })),
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
    }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      refuseMisplaced({ import: params.import, clone: params.clone })
      const request = toPublishRequest(params, casOfClients(casMd5Of(caller, params)))
      // Consoles send the addresses as a form field too, also with versions for all: only the header counts.
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: params.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return CS_TRUE_JSON
    },
  })
}

/** Refuses a request whose mark that it is no publish is outside the query, or spelled differently. */
function refuseMisplaced(said: Readonly<Record<string, boolean | undefined>>): void {
  for (const [parameter, isSaid] of Object.entries(said)) {
    if (isSaid !== true) continue
    const allowed = '`true` in the query'
    throw new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
  }
}

const IDS_ALLOWED = 'ids of items, separated by commas'

const REMOVE_PARAMS = Type.Object({
  ...LOOSE_KEY_PARAMS,
  delType: Type.Optional(Type.Enum(['ids'], { description: 'Deletes the items of these ids.' })),
  ids: Type.Optional(
    Type.String({ maxLength: 65_536, pattern: '^\\d{1,16}(,\\d{1,16})*$', allowed: IDS_ALLOWED }),
  ),
  tag: Type.Optional(fields.tag),
  beta: Type.Optional(
    Type.Boolean({
      description:
        'true: ends the version of the item for some addresses. false: deletes the formal version alone.',
    }),
  ),
  src_user: Type.Optional(fields.srcUser),
})

/** `DELETE /configs`: one item by its name, or several by their ids (http-compat.md section 1). */
function removeConfig({ configs, gray, removal }: Pick<Operations, 'configs' | 'gray' | 'removal'>) {
  return endpoint({
    summary: 'Deletes a configuration item, or several by their ids',
    permission: configs.remove.permission,
    params: REMOVE_PARAMS,
    handle: async ({ params, caller }) => {
      const srcUser = params.src_user
      if (params.delType !== undefined) {
        return removalAnswer(await removal.byIds({ ids: idsOf(params.ids), srcUser }, caller))
      }
      const key = namedKey(params)
      if (params.beta === true) {
        await gray.stop({ key, name: BETA_NAME, srcUser }, caller)
        return csEnvelope(true, 'stop beta ok')
      }
      const keepsGray = params.beta === false
      await removeForAllOrSome({ configs, gray }, { key, srcUser, keepsGray, tag: params.tag }, caller)
      return CS_TRUE_JSON
    },
  })
}

/** Other servers have no message here: they do not say what they have left. */
function removalAnswer(removal: Removal): Answer {
  const { stoppedBy, removed } = removal
  const left = idsLeft(removal).join(', ')
  if (stoppedBy !== undefined) {
    const code = REFUSALS[stoppedBy.code].http
    const message = `stopped after ${removed.length} items: ${nacosMessage(stoppedBy, 'config')}; not deleted: ${left}`
    return csEnvelope(false, message, code)
  }
  return csEnvelope(true, left === '' ? null : `not deleted, unknown or not permitted: ${left}`)
}

function idsOf(text: string | undefined): number[] {
  if (text === undefined) {
    const facts = { parameter: 'ids', allowed: IDS_ALLOWED }
    throw new Refusal('missing-parameter', `ids is required: ${IDS_ALLOWED}.`, facts)
  }
  return text.split(',').map(Number)
}

const NAMES = Type.Object(KEY_PARAMS)
const readNames = compileReader(NAMES, NACOS_CONFIG_RULES)

/** The item that loose parameters (LOOSE_KEY_PARAMS) name, read as strictly as everywhere; throws Refusal where they do not. */
function namedKey({
  tenant,
  dataId,
  group,
}: {
  tenant?: string
  dataId?: string
  group?: string
}): ConfigKey {
  const sent = Object.entries({ tenant, dataId, group }).filter((entry): entry is [string, string] => {
    return entry[1] !== undefined
  })
  return toConfigKey(readNames(new Map(sent)) as Static<typeof NAMES>)
}

const READ_PARAMS = Type.Object({
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

type Params = Static<typeof READ_PARAMS>
type ReadOperations = Pick<Operations, 'configs' | 'gray' | 'transfer'>

/** `GET /configs`: the content of an item, or another request on that path (http-compat.md section 3). */
function readConfig(operations: ReadOperations) {
  const { configs } = operations
  const answerOf = contentAnswers(moreHeaders)
  return endpoint({
    summary: 'Reads a configuration item, or searches for items',
    permission: configs.view.permission,
    params: READ_PARAMS,
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
