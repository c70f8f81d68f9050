import { namingErrors } from './nacos-errors.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import { JAVA_DIALECT } from '../endpoints/naming-dialect.ts'
import { type OperatorEndpointParts, operatorEndpoints } from '../endpoints/operator/operator-endpoints.ts'
import { NACOS_NAMING_RULES } from '../../parameters/parameter-rules.ts'
import type { Route } from '../routing/route.ts'
import { serverListOfEndpoint } from './server-list.ts'

/** The operator functions for tools of `/nacos/v1`: switches are kept unless debug=true, and `/ops` is an alias. */
export function nacosOperatorRoutes(parts: OperatorEndpointParts): Route[] {
  const operator = operatorEndpoints(parts, JAVA_DIALECT)
  const defaults = { rules: NACOS_NAMING_RULES, errors: namingErrors }
  const aliases = ['/operator', '/ops'].flatMap((prefix) =>
    placeRoutes(defaults, `/nacos/v1/ns${prefix}`, [
      ['GET', '/switches', operator.switches],
      ['PUT', '/switches', operator.setSwitch],
      ['GET', '/metrics', operator.metrics],
      ['GET', '/servers', operator.servers],
    ]),
  )
  return [
    ...aliases,
    ...placeRoutes(defaults, '/nacos/v1/ns', [['GET', '/raft/leader', operator.leader]]),
    ...placeRoutes(defaults, '/nacos', [['GET', '/serverlist', serverListOfEndpoint(parts)]]),
  ]
}
