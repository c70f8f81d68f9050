import { namingErrors } from './nacos-errors.ts'
import { placeRoutes, type Route, type Endpoint, endpoint } from '../routing/route.ts'
import { JAVA_DIALECT } from '../endpoints/naming/naming-requests.ts'
import { type OperatorEndpointParts, operatorEndpoints } from '../endpoints/operator/operator-endpoints.ts'
import { NACOS_NAMING_RULES, Type } from '../../parameters/schema.ts'
import { textAnswer, answersText } from '../routing/answers.ts'
import { isJavaClient } from './java-clients.ts'

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

/**
 * The list of the servers, for clients that are given an `endpoint` instead of addresses: `host:port`, one a line. The npm client
 * splits at CR LF only and calls itself Java, which takes both ends of a line. The Python client keeps a CR in an address. So who
 * asks decides. There is no end of a line after the last address: npm would take an empty one from it.
 */
function serverListOfEndpoint({ operator }: OperatorEndpointParts): Endpoint {
  return endpoint({
    summary: 'The addresses of the servers, for clients with an `endpoint`',
    permission: operator.addresses.permission,
    answers: answersText('`host:port` of each server that is alive, one a line.'),
    params: Type.Object({}),
    handle: ({ caller }) =>
      textAnswer(operator.addresses({}, caller).join(isJavaClient(caller) ? '\r\n' : '\n')),
  })
}
