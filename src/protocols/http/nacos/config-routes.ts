import { Type } from '../../parameters/schema.ts'
import type { Operations } from '../../../operations/operations.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { CS_TRUE_JSON, csJsonAnswer } from '../routing/answers.ts'
import { KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import { headerText } from '../endpoints/config/header-text.ts'
import { aboutJson } from '../endpoints/config/item-json.ts'
import { type PublishLimits, publishParams, toPublishRequest } from '../endpoints/config/publish-params.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS, csEnvelope } from './config-defaults.ts'
import { removeConfig } from './delete-config.ts'
import { readConfig } from './read-config.ts'
import { refuseMisplaced, refuseUnsupported } from './unsupported.ts'

/** `/nacos/v1/cs/configs` and `/nacos/v1/cs/history`, as clients and tools of the reference server use it (http-compat.md sections 1 and 3). */
export function nacosConfigRoutes(
  { configs, transfer, history: records }: Pick<Operations, 'configs' | 'transfer' | 'history'>,
  limits: PublishLimits,
): Route[] {
  const history = historyEndpoints(records, (value) => csJsonAnswer(value))
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['GET', '/configs', readConfig({ configs, transfer })],
    ['POST', '/configs', publish(configs, limits)],
    ['DELETE', '/configs', removeConfig(configs)],
    ['GET', '/configs/catalog', readAbout(configs)],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

/** The parameters besides the content. */
const MORE_PARAMS = {
  appName: Type.Optional(fields.appName),
  desc: Type.Optional(fields.desc),
  use: Type.Optional(fields.use),
  effect: Type.Optional(fields.effect),
  schema: Type.Optional(fields.schema),
  config_tags: Type.Optional(fields.configTags),
  src_user: Type.Optional(fields.srcUser),
  encryptedDataKey: Type.Optional(fields.encryptedDataKey),
  casMd5: Type.Optional(fields.casMd5),
  tag: Type.Optional(fields.tag),
}

function publish(configs: Operations['configs'], limits: PublishLimits) {
  return endpoint({
    summary: 'Publishes a configuration item; the header casMd5 makes it depend on the current md5',
    permission: configs.publish.permission,
    params: Type.Object({
      ...publishParams(limits),
      ...MORE_PARAMS,
      import: Type.Optional(Type.Boolean({ description: 'True, in the query: imports a zip file.' })),
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
    }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      refuseMisplaced({ import: params.import, clone: params.clone })
      refuseUnsupported({
        tag: params.tag !== undefined,
        betaIps: headerText(caller, 'betaIps') !== undefined,
      })
      const casMd5 = headerText(caller, 'casMd5') ?? params.casMd5
      await configs.publish(toPublishRequest(params, casMd5), caller)
      return CS_TRUE_JSON
    },
  })
}

function readAbout({ read }: Operations['configs']) {
  return endpoint({
    summary: 'The fields of a configuration item without its content',
    permission: read.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => csEnvelope(aboutJson(read(toConfigKey(params), caller))),
  })
}
