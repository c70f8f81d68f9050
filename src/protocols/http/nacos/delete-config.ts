import { removeForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { Type } from '../../parameters/schema.ts'
import { Refusal } from '../../../core/refusal.ts'
import { CS_TRUE_JSON } from '../routing/answers.ts'
import * as fields from '../../parameters/fields.ts'
import { LOOSE_KEY_PARAMS } from '../endpoints/config/search-params.ts'
import { endpoint } from '../routing/endpoint.ts'
import { csEnvelope } from './config-defaults.ts'
import { namedKey } from './config-names.ts'
import { BETA_NAME } from '../../../core/config/state/gray-rule.ts'

const IDS_ALLOWED = 'ids of items, separated by commas'

const PARAMS = Type.Object({
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
export function removeConfig({ configs, gray }: Pick<Operations, 'configs' | 'gray'>) {
  return endpoint({
    summary: 'Deletes a configuration item, or several by their ids',
    permission: configs.remove.permission,
    params: PARAMS,
    handle: async ({ params, caller }) => {
      const srcUser = params.src_user
      if (params.delType !== undefined) {
        await configs.removeByIds({ ids: idsOf(params.ids), srcUser }, caller)
        return csEnvelope(true)
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

function idsOf(text: string | undefined): number[] {
  if (text === undefined) {
    const facts = { parameter: 'ids', allowed: IDS_ALLOWED }
    throw new Refusal('missing-parameter', `ids is required: ${IDS_ALLOWED}.`, facts)
  }
  return text.split(',').map(Number)
}
