import type { Operations } from '../../../operations/operations.ts'
import * as fields from '../../parameters/fields.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { Type } from '../../parameters/schema.ts'
import { CAS_HEADER, casMd5Of } from '../endpoints/config/cas-md5.ts'
import { KEY_PARAMS, toConfigKey } from '../../parameters/config-key.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { aboutEndpoint } from '../endpoints/config/item-endpoints.ts'
import {
  comment,
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../parameters/publish-params.ts'
import { cloneEndpoint } from '../endpoints/transfer/clone-endpoint.ts'
import { importEndpoint, type ImportLimits } from '../endpoints/transfer/import-endpoint.ts'
import { problemErrors } from '../errors/problem.ts'
import { ABOUT_SCHEMA } from '../endpoints/config/item-json.ts'
import { ANSWERS_TRUE, answersJson } from '../routing/answer-schema.ts'
import { jsonAnswer, TRUE_JSON } from '../routing/answers.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { exportConfigs, readConfig, searchConfigs, showConfig } from './read-configs.ts'
import { ANSWERS_OUTCOME, svcTransferAnswers } from './transfer-answers.ts'

/**
 * `/svc/v1/cs/configs` and `/svc/v1/cs/history` (interface.md, Configuration management); with the further operations
 * of `/nacos`, by the same parameters.
 */
export function svcConfigRoutes(
  { configs, transfer, history: records }: Pick<Operations, 'configs' | 'transfer' | 'history'>,
  limits: PublishLimits & ImportLimits,
): Route[] {
  const json = (value: object) => jsonAnswer(value)
  const history = historyEndpoints(records, { hasJavaKeys: false, json })
  const importParts = { limits, rules: SVC_RULES, answers: svcTransferAnswers }
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/configs', readConfig(configs)],
    ['GET', '/configs', showConfig(configs)],
    ['GET', '/configs', searchConfigs(configs)],
    ['GET', '/configs', exportConfigs({ transfer }, 1)],
    ['GET', '/configs', exportConfigs({ transfer }, 2)],
    ['POST', '/configs', publish(configs, limits)],
    ['POST', '/configs', { ...importEndpoint(transfer, importParts), answers: ANSWERS_OUTCOME }],
    ['POST', '/configs', { ...cloneEndpoint(transfer, svcTransferAnswers), answers: ANSWERS_OUTCOME }],
    ['DELETE', '/configs', remove(configs)],
    ['GET', '/configs/catalog', { ...aboutEndpoint(configs, json), answers: answersJson(ABOUT_SCHEMA) }],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

function publish(configs: Operations['configs'], limits: PublishLimits) {
  return endpoint({
    summary: 'Publishes a configuration item; with casMd5 only if it is the one that the client knows',
    permission: configs.publish.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({
      ...publishParams(limits),
      ...noteParams({ isEmptyAValue: true }),
      comment: Type.Optional(comment),
    }),
    headers: CAS_HEADER,
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      await configs.publish(toPublishRequest(params, casMd5Of(caller, params)), caller)
      return TRUE_JSON
    },
  })
}

function remove(configs: Operations['configs']) {
  return endpoint({
    summary: 'Deletes a configuration item; with casMd5 only if it is the one that the client knows',
    permission: configs.remove.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object({
      ...KEY_PARAMS,
      casMd5: Type.Optional(fields.allowingEmpty(fields.casMd5)),
      comment: Type.Optional(comment),
      src_user: Type.Optional(fields.srcUser),
    }),
    headers: CAS_HEADER,
    handle: async ({ params, caller }) => {
      const [casMd5, srcUser] = [casMd5Of(caller, params), params.src_user]
      await configs.remove({ key: toConfigKey(params), casMd5, comment: params.comment, srcUser }, caller)
      return TRUE_JSON
    },
  })
}
