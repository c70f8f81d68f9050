import { publishForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { casOfClients } from '../../parameters/cas-of-clients.ts'
import { grayOfClients } from '../../parameters/gray-of-clients.ts'
import * as fields from '../../parameters/fields.ts'
import { JsonValues } from '../../parameters/json-values.ts'
import { invalid } from '../../parameters/parameter-field.ts'
import { compileReader } from '../../parameters/parameter-reader.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/parameter-rules.ts'
import {
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../parameters/publish-params.ts'
import { type Static, Type } from '../../parameters/schema.ts'
import { requestType } from '../requests/request-type.ts'
import type { JsonObject } from '../wire/json.ts'

/** `ConfigPublishRequest`: some fields of the item are in its `additionMap`. */
export function publishConfig(
  { configs, gray }: Pick<Operations, 'configs' | 'gray'>,
  limits: PublishLimits,
) {
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
