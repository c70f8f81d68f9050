import { Type } from '../../parameters/schema.ts'
import { publishForAllOrSome } from '../../../operations/config/for-all-or-some.ts'
import type { Operations } from '../../../operations/operations.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { CS_TRUE_JSON, csJsonAnswer } from '../routing/answers.ts'
import { casMd5Of } from '../endpoints/config/cas-md5.ts'
import { headerText } from '../endpoints/config/header-text.ts'
import { aboutEndpoint } from '../endpoints/config/item-endpoints.ts'
import {
  noteParams,
  type PublishLimits,
  publishParams,
  toPublishRequest,
} from '../../parameters/publish-params.ts'
import { casOfClients } from '../../parameters/cas-of-clients.ts'
import { grayOfClients } from '../../parameters/gray-of-clients.ts'
import * as fields from '../../parameters/fields.ts'
import { endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS, csEnvelope } from './config-defaults.ts'
import { removeConfig } from './delete-config.ts'
import { readConfig } from './read-config.ts'
import { Refusal } from '../../../core/refusal.ts'

/** `/nacos/v1/cs/configs` and `/nacos/v1/cs/history`, as for the reference server (http-compat.md sections 1 and 3). */
export function nacosConfigRoutes(
  {
    configs,
    gray,
    transfer,
    history: records,
  }: Pick<Operations, 'configs' | 'gray' | 'transfer' | 'history'>,
  limits: PublishLimits,
): Route[] {
  const history = historyEndpoints(records, { hasJavaKeys: true, json: (value) => csJsonAnswer(value) })
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['GET', '/configs', readConfig({ configs, gray, transfer })],
    ['POST', '/configs', publish({ configs, gray }, limits)],
    ['DELETE', '/configs', removeConfig({ configs, gray })],
    ['GET', '/configs/catalog', aboutEndpoint(configs, (value) => csEnvelope(value))],
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}

function publish({ configs, gray }: Pick<Operations, 'configs' | 'gray'>, limits: PublishLimits) {
  return endpoint({
    summary:
      'Publishes a configuration item; the header casMd5 makes it depend on the current md5. With the header betaIps or a tag it is for some clients only',
    permission: configs.publish.permission,
    params: Type.Object({
      ...publishParams(limits),
      ...noteParams({ isEmptyAValue: false }),
      tag: Type.Optional(fields.tag),
      import: Type.Optional(Type.Boolean({ description: 'True, in the query: imports a zip file.' })),
      clone: Type.Optional(Type.Boolean({ description: 'True, in the query: copies items.' })),
    }),
    maxBodyBytes: limits.maxFormBodyBytes,
    handle: async ({ params, caller }) => {
      refuseMisplaced({ import: params.import, clone: params.clone })
      const request = toPublishRequest(params, casOfClients(casMd5Of(caller, params)))
      // Consoles send the addresses as a form field too, also with versions for all: only the header counts.
      const release = grayOfClients({ betaIps: headerText(caller, 'betaIps'), tag: params.tag })
      await publishForAllOrSome({ configs, gray }, request, { release, caller })
      return CS_TRUE_JSON
    },
  })
}

/** Refuses a request whose mark that it is no publish is outside the query, or spelled differently. */
function refuseMisplaced(said: Readonly<Record<string, boolean | undefined>>): void {
  for (const [parameter, isSaid] of Object.entries(said)) {
    if (isSaid !== true) continue
    const allowed = '`true` in the query'
    throw new Refusal('invalid-parameter', `${parameter} must be ${allowed}.`, { parameter, allowed })
  }
}
