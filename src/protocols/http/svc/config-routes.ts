import type { Operations } from '../../../operations/operations.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { Type } from '../../parameters/schema.ts'
import { KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import { contentAnswers } from '../endpoints/config/content-answers.ts'
import { type PublishLimits, publishParams, toPublishRequest } from '../endpoints/config/publish-params.ts'
import { problemErrors } from '../errors/problem.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { jsonAnswer, TRUE_JSON } from '../routing/answers.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/cs/configs` and `/svc/v1/cs/history` (interface.md, Configuration management). */
export function svcConfigRoutes(
  { configs, history: records }: Pick<Operations, 'configs' | 'history'>,
  limits: PublishLimits,
): Route[] {
  const history = historyEndpoints(records, (value) => jsonAnswer(value))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/configs', readConfig(configs)],
    ['POST', '/configs', publish(configs, limits)],
    ['DELETE', '/configs', remove(configs)],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

function readConfig({ read }: Operations['configs']) {
  const answerOf = contentAnswers()
  return endpoint({
    summary: 'Reads a configuration item',
    permission: read.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => answerOf(read(toConfigKey(params), caller)),
  })
}

function publish(configs: Operations['configs'], limits: PublishLimits) {
  return endpoint({
    summary: 'Publishes a configuration item',
    permission: configs.publish.permission,
    params: Type.Object(publishParams(limits)),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      await configs.publish(toPublishRequest(params), caller)
      return TRUE_JSON
    },
  })
}

function remove(configs: Operations['configs']) {
  return endpoint({
    summary: 'Deletes a configuration item',
    permission: configs.remove.permission,
    params: Type.Object(KEY_PARAMS),
    handle: async ({ params, caller }) => {
      await configs.remove({ key: toConfigKey(params) }, caller)
      return TRUE_JSON
    },
  })
}
