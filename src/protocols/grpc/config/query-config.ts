import type { Operations } from '../../../operations/operations.ts'
import type { ConfigItem } from '../../../core/config/state/config-item.ts'
import { configNotFound } from '../../../operations/config/configs.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import * as fields from '../../parameters/fields.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { ReadyJson } from '../wire/json.ts'
import { requestType } from '../requests/request-type.ts'

const PARAMS = Type.Object({ ...KEY_PARAMS, tag: Type.Optional(fields.tag) })
const readParams = compileReader(PARAMS, NACOS_CONFIG_RULES)

/** `ConfigQueryRequest`: the content of an item. */
export function queryConfig(configs: Pick<Operations['configs'], 'find'>) {
  // Thousands of clients ask for an item when it has changed: the last one is encoded once.
  let last: ConfigItem | undefined
  let lastAnswer = new ReadyJson('{}')
  return requestType({
    type: 'ConfigQueryRequest',
    answer: 'ConfigQueryResponse',
    permission: configs.find.permission,
    read: (body) => readParams(new JsonValues(body)) as Static<typeof PARAMS>,
    run: (params, { caller }) => {
      const key = toConfigKey(params)
      const item = configs.find(key, caller)
      // No content has a tag.
      if (item === undefined || params.tag !== undefined) throw configNotFound(key)
      if (item !== last) [last, lastAnswer] = [item, answerOf(item)]
      return lastAnswer
    },
  })
}

/** Never `tag`: some clients declare it as a boolean. */
function answerOf({ content, type, md5, modifiedMs, notes: { encryptedDataKey } }: ConfigItem): ReadyJson {
  const text = Buffer.from(JSON.stringify(content.toString()))
  const others = { contentType: type, md5, lastModified: modifiedMs, encryptedDataKey, beta: false }
  return new ReadyJson('{"content":', text, `,${JSON.stringify(others).slice(1)}`)
}
