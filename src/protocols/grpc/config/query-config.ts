import type { Operations } from '../../../operations/operations.ts'
import type { SeenItem } from '../../../core/config/state/config-view.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import * as fields from '../../parameters/fields.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { ReadyJson } from '../wire/json.ts'
import { AnsweredNo, type RequestContext, requestType } from '../requests/request-type.ts'
import { connectedViewer } from './connected-viewer.ts'

const PARAMS = Type.Object({
  ...KEY_PARAMS,
  tag: Type.Optional(fields.tag),
  localMd5: Type.Optional(Type.String({ description: 'The md5 of the text that the client has.' })),
})
const readParams = compileReader(PARAMS, NACOS_CONFIG_RULES)

/** The `errorCode` for a client that has the text already. It then takes its own. */
const NOT_MODIFIED = 304

/** `ConfigQueryRequest`: the content of an item, unless the client has it. */
export function queryConfig(configs: Pick<Operations['configs'], 'view'>) {
  // Thousands of clients ask for an item when it has changed: the last formal version and the last gray one are encoded once.
  const formal = new LastAnswer()
  const gray = new LastAnswer()
  return requestType({
    type: 'ConfigQueryRequest',
    answer: 'ConfigQueryResponse',
    permission: configs.view.permission,
    read: (body) => readParams(new JsonValues(body)) as Static<typeof PARAMS>,
    run: (params, call) => {
      const key = toConfigKey(params)
      const item = configs.view({ key, who: connectedViewer(call, params.tag) }, call.caller)
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
  const text = Buffer.from(JSON.stringify(item.content.toString()))
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
