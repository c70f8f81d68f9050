import type { Operations } from '../../../operations/operations.ts'
import {
  type PublishLimits,
  noteParams,
  publishParams,
  toPublishRequest,
  KEY_PARAMS,
  toConfigKey,
} from '../../parameters/publish-params.ts'
import {
  type AnyRequestType,
  AnsweredNo,
  type RequestContext,
  requestType,
} from '../requests/request-type.ts'
import { batchListen, ListeningConnections } from './batch-listen.ts'
import { fuzzyConfigs } from '../fuzzy/fuzzy-watches.ts'
import type { SeenItem } from '../../../core/config/state/config-view.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import { contentAsJson } from '../../answers/json-content.ts'
import * as fields from '../../parameters/fields.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES, type Static, Type } from '../../parameters/schema.ts'
import { ReadyJson, type JsonObject } from '../wire/json.ts'
import { connectedViewer } from './connected-viewer.ts'
import { publishForAllOrSome, removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import { casOfClients, grayOfClients } from '../../parameters/gray-params.ts'
import { invalid } from '../../parameters/parameter-field.ts'

/** Dependencies of the requests on configurations. */
export interface ConfigRequestParts {
  readonly operations: Pick<Operations, 'configs' | 'gray' | 'listening' | 'configPatterns'>
  readonly limits: PublishLimits & { readonly maxListeningItems: number }
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The requests on configurations (grpc-compat.md section 4). */
export function configRequests({ operations, limits, after }: ConfigRequestParts): AnyRequestType[] {
  const { configs, gray, listening } = operations
  const connections = new ListeningConnections({ listening, after })
  return [
    queryConfig(configs, connections),
    publishConfig({ configs, gray }, limits),
    removeConfig({ configs, gray }),
    batchListen({ listening, connections, maxListeningItems: limits.maxListeningItems }),
    fuzzyConfigs(operations.configPatterns, after),
  ]
}

const QUERY = Type.Object({
  ...KEY_PARAMS,
  tag: Type.Optional(fields.tag),
  localMd5: Type.Optional(Type.String({ description: 'The md5 of the text that the client has.' })),
})
const readQuery = compileReader(QUERY, NACOS_CONFIG_RULES)

/** The `errorCode` for a client that has the text already. It then takes its own. */
const NOT_MODIFIED = 304

/**
 * `ConfigQueryRequest`: the content of an item, unless the client has it. It then has the version that it sees: Python listens
 * with the new md5 only minutes later.
 */
export function queryConfig(
  configs: Pick<Operations['configs'], 'view'>,
  connections: Pick<ListeningConnections, 'known'>,
) {
  // Thousands of clients ask for an item when it has changed: the last formal version and the last gray one are encoded once.
  const formal = new LastAnswer()
  const gray = new LastAnswer()
  return requestType({
    type: 'ConfigQueryRequest',
    answer: 'ConfigQueryResponse',
    permission: configs.view.permission,
    read: (body) => readQuery(new JsonValues(body)) as Static<typeof QUERY>,
    run: (params, call) => {
      const key = toConfigKey(params)
      const item = configs.view({ key, who: connectedViewer(call, params.tag) }, call.caller)
      if (params.tag === undefined) connections.known(call.connection)?.watch.took(key, item?.md5 ?? '')
      if (item === undefined) throw configNotFound(key)
      if (item.md5 === params.localMd5) return notModified(item, takesTags(call) ? tagOf(item) : {})
      if (item.gray === undefined) return formal.of(item)
      return takesTags(call) ? answerOf(item, tagOf(item)) : gray.of(item)
    },
  })
}

/** The answer of the last version that was asked for. */
class LastAnswer {
  #item: SeenItem | undefined
  #answer = new ReadyJson('{}')

  of(item: SeenItem): ReadyJson {
    if (item !== this.#item) [this.#item, this.#answer] = [item, answerOf(item, {})]
    return this.#answer
  }
}

/** Only Java declares the tag of an answer as a text; Go and Python declare it as a boolean, and fail. */
function takesTags({ connection }: RequestContext): boolean {
  return connection.client.version.startsWith('Nacos-Java-Client')
}

function tagOf({ gray }: SeenItem): object {
  return gray?.rule.type === 'tag' ? { tag: encodeURIComponent(gray.rule.expr) } : {}
}

function answerOf(item: SeenItem, tag: object): ReadyJson {
  const text = contentAsJson(item.content)
  return new ReadyJson('{"content":', text, `,${JSON.stringify(othersOf(item, tag)).slice(1)}`)
}

/** Everything but the content. Clients of 3.3 ask so. */
function notModified(item: SeenItem, tag: object): AnsweredNo {
  return new AnsweredNo(NOT_MODIFIED, 'config not modified', othersOf(item, tag))
}

function othersOf({ type, md5, modifiedMs, notes, gray }: SeenItem, tag: object): object {
  return {
    contentType: type,
    md5,
    lastModified: modifiedMs,
    encryptedDataKey: notes.encryptedDataKey,
    beta: gray?.rule.type === 'beta',
    ...tag,
  }
}

/** `ConfigPublishRequest`: some fields of the item are in its `additionMap`. */
function publishConfig({ configs, gray }: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits) {
  const params = Type.Object({
    ...publishParams(limits),
    ...noteParams({ isEmptyAValue: false }),
    tag: Type.Optional(fields.tag),
    betaIps: Type.Optional(Type.String()),
  })
  const readParams = compileReader(params, NACOS_CONFIG_RULES)
  return requestType({
    type: 'ConfigPublishRequest',
    answer: 'ConfigPublishResponse',
    permission: configs.publish.permission,
    read: (body) => {
      const values = new JsonValues(body, additionsOf(body))
      const said = readParams(values) as Static<typeof params>
      const release = grayOfClients({ betaIps: said.betaIps?.trim() || undefined, tag: said.tag })
      return { request: toPublishRequest(said, casOfClients(said.casMd5?.trim() || undefined)), release }
    },
    run: async ({ request, release }, { caller }) => {
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return {}
    },
  })
}

function additionsOf({ additionMap }: JsonObject): JsonObject {
  if (additionMap === undefined || additionMap === null) return {}
  if (typeof additionMap === 'object' && !Array.isArray(additionMap)) return additionMap as JsonObject
  throw invalid('additionMap', 'an object of texts', 'something else')
}

const REMOVAL = Type.Object({ ...KEY_PARAMS, tag: Type.Optional(fields.tag) })
const readRemoval = compileReader(REMOVAL, NACOS_CONFIG_RULES)

/** `ConfigRemoveRequest`: deletes an item, or ends its version for a tag. Success also if it did not exist. */
function removeConfig({ configs, gray }: Pick<Operations, 'configs' | 'gray'>) {
  return requestType({
    type: 'ConfigRemoveRequest',
    answer: 'ConfigRemoveResponse',
    permission: configs.remove.permission,
    read: (body) => {
      const params = readRemoval(new JsonValues(body)) as Static<typeof REMOVAL>
      return { key: toConfigKey(params), tag: params.tag }
    },
    run: async ({ key, tag }, { caller }) => {
      await removeForAllOrSome({ configs, gray }, { key, tag }, caller)
      return {}
    },
  })
}
