import { Type } from '../../parameters/schema.ts'
import { publishConfig } from '../../../core/config/publish-config.ts'
import { CS_TRUE_JSON } from '../routing/answers.ts'
import { existingConfig, KEY_PARAMS, toConfigKey } from '../endpoints/config/config-key.ts'
import { type ConfigParts, READ_CONFIG, WRITE_CONFIG } from '../endpoints/config/config-parts.ts'
import { headerText } from '../endpoints/config/header-text.ts'
import { aboutJson } from '../endpoints/config/item-json.ts'
import { publishParams, toPublishConfig } from '../endpoints/config/publish-params.ts'
import * as fields from '../../parameters/fields.ts'
import { operation, placeRoutes } from '../routing/operation.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_MANNERS, csEnvelope } from './config-manners.ts'
import { removeConfig } from './delete-config.ts'
import { readConfig } from './read-config.ts'
import { refuseMisplaced, refuseUnsupported } from './unsupported.ts'

/** `/nacos/v1/cs/configs`, as clients and tools of the reference server use it (http-compat.md sections 1 and 3). */
export function nacosConfigRoutes(parts: ConfigParts): Route[] {
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/cs', [
    ['GET', '/configs', readConfig(parts)],
    ['POST', '/configs', publish(parts)],
    ['DELETE', '/configs', removeConfig(parts)],
    ['GET', '/configs/catalog', readAbout(parts)],
  ])
}

/** What may be said beside the content. */
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

function publish({ engine, budget, ...limits }: ConfigParts) {
  return operation({
    summary: 'Publishes a configuration item; the header casMd5 makes it depend on the current md5',
    permission: WRITE_CONFIG,
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
      const wish = toPublishConfig(params, caller, casMd5)
      await budget.within(wish.key, wish.content.length, () => engine.execute(publishConfig(wish)))
      return CS_TRUE_JSON
    },
  })
}

function readAbout({ state }: ConfigParts) {
  return operation({
    summary: 'Tells what is known of a configuration item besides its content',
    permission: READ_CONFIG,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params }) => csEnvelope(aboutJson(existingConfig(state, toConfigKey(params)))),
  })
}
