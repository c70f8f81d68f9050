import { Type } from '../../parameters/schema.ts'
import { textAnswer } from '../routing/answers.ts'
import { answersText } from '../routing/answer-schema.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import type { OperatorEndpointParts } from '../endpoints/operator/operator-endpoints.ts'
import { isJavaClient } from './java-clients.ts'

/**
 * The list of the servers, for clients that are given an `endpoint` instead of addresses: `host:port`, one a line. The npm client
 * splits at CR LF only and calls itself Java, which takes both ends of a line. The Python client keeps a CR in an address. So who
 * asks decides. There is no end of a line after the last address: npm would take an empty one from it.
 */
export function serverListOfEndpoint({ operator }: OperatorEndpointParts): Endpoint {
  return endpoint({
    summary: 'The addresses of the servers, for clients with an `endpoint`',
    permission: operator.addresses.permission,
    answers: answersText('`host:port` of each server that is alive, one a line.'),
    params: Type.Object({}),
    handle: ({ caller }) =>
      textAnswer(operator.addresses({}, caller).join(isJavaClient(caller) ? '\r\n' : '\n')),
  })
}
