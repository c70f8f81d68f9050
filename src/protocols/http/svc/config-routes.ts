import { Type } from '../../parameters/schema.ts'
import { deleteConfig } from '../../../core/config/delete-config.ts'
import { publishConfig } from '../../../core/config/publish-config.ts'
import { TRUE_JSON } from '../routing/answers.ts'
import { existingConfig, KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import { type ConfigParts, READ_CONFIG, WRITE_CONFIG } from '../endpoints/config/config-parts.ts'
import { contentAnswers } from '../endpoints/config/content-answers.ts'
import { publishParams, toPublishConfig } from '../endpoints/config/publish-params.ts'
import { operation, placeRoutes } from '../routing/operation.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/cs/configs`: reading, publishing and deleting (interface.md, Configuration management). */
export function svcConfigRoutes(parts: ConfigParts): Route[] {
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/configs', readConfig(parts)],
    ['POST', '/configs', publish(parts)],
    ['DELETE', '/configs', remove(parts)],
  ])
}

function readConfig({ state }: ConfigParts) {
  const answerOf = contentAnswers()
  return operation({
    summary: 'Reads a configuration item',
    permission: READ_CONFIG,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params }) => answerOf(existingConfig(state, toConfigKey(params))),
  })
}

function publish({ engine, budget, ...limits }: ConfigParts) {
  return operation({
    summary: 'Publishes a configuration item',
    permission: WRITE_CONFIG,
    params: Type.Object(publishParams(limits)),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      const wish = toPublishConfig(params, caller)
      await budget.within(wish.key, wish.content.length, () => engine.execute(publishConfig(wish)))
      return TRUE_JSON
    },
  })
}

function remove({ engine }: ConfigParts) {
  return operation({
    summary: 'Deletes a configuration item',
    permission: WRITE_CONFIG,
    params: Type.Object(KEY_PARAMS),
    handle: async ({ params, caller }) => {
      await engine.execute(deleteConfig(toConfigKey(params), { ip: caller.ip, user: null }))
      return TRUE_JSON
    },
  })
}
