import { removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import * as fields from '../../parameters/fields.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { requestType } from '../requests/request-type.ts'

const PARAMS = Type.Object({ ...KEY_PARAMS, tag: Type.Optional(fields.tag) })
const readParams = compileReader(PARAMS, NACOS_CONFIG_RULES)

/** `ConfigRemoveRequest`: deletes an item, or ends its version for a tag. Success also if it did not exist. */
export function removeConfig({ configs, gray }: Pick<Operations, 'configs' | 'gray'>) {
  return requestType({
    type: 'ConfigRemoveRequest',
    answer: 'ConfigRemoveResponse',
    permission: configs.remove.permission,
    read: (body) => {
      const params = readParams(new JsonValues(body)) as Static<typeof PARAMS>
      return { key: toConfigKey(params), tag: params.tag }
    },
    run: async ({ key, tag }, { caller }) => {
      await removeForAllOrSome({ configs, gray }, { key, tag }, caller)
      return {}
    },
  })
}
