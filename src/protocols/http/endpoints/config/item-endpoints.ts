import type { Operations } from '../../../../operations/operations.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import type { Answer } from '../../routing/answer.ts'
import { KEY_PARAMS, toConfigKey } from '../../../parameters/config-key.ts'
import { aboutJson } from './item-json.ts'

/** An item without its content; `json` labels the answer as the dialect does. */
export function aboutEndpoint(configs: Operations['configs'], json: (value: object) => Answer): Endpoint {
  return endpoint({
    summary: 'The fields of a configuration item without its content',
    permission: configs.read.permission,
    params: Type.Object(KEY_PARAMS),
    handle: ({ params, caller }) => json(aboutJson(configs.read(toConfigKey(params), caller))),
  })
}
