import { afterwards } from '../../../../operations/afterwards.ts'
import type { ListSubscriber } from '../../../../operations/naming/instance-lists.ts'
import type { ListFormat } from '../../../answers/list-format.ts'
import * as fields from '../../../parameters/fields.ts'
import { splitClusters } from '../../../parameters/grouped-name.ts'
import { Type } from '../../../parameters/schema.ts'
import { sentJsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type HttpCaller } from '../../routing/route.ts'
import { agentOf } from '../config/http-viewer.ts'
import { type NamingEndpointParts, SERVICE_PARAMS, serviceKeyOf } from './naming-requests.ts'

const NO_CLUSTERS: readonly string[] = []

/** How a dialect writes a list for a client. */
export type ListFormatOf = (caller: HttpCaller) => ListFormat

/** `GET …/instance/list`: the hot read of service discovery. A udpPort subscribes to pushes. */
export function listEndpoint({ lists }: NamingEndpointParts, formatOf: ListFormatOf): Endpoint {
  return endpoint({
    summary: 'Query instances',
    permission: lists.list.permission,
    params: Type.Object({
      ...SERVICE_PARAMS,
      clusters: fields.withDefault(fields.clusters, ''),
      healthyOnly: fields.withDefault(fields.healthyOnly, false),
      udpPort: fields.withDefault(fields.udpPort, 0),
      clientIP: Type.Optional(fields.clientIP),
      app: Type.Optional(fields.app),
    }),
    handle: ({ params, caller }) => {
      const { clusters, healthyOnly, udpPort, clientIP, app } = params
      const request = {
        key: serviceKeyOf(params),
        format: formatOf(caller),
        clustersText: clusters,
        clusters: clusters === '' ? NO_CLUSTERS : splitClusters(clusters),
        healthyOnly,
        consumerIp: clientIP ?? caller.ip,
        subscriber: udpPort > 0 && !caller.isProxied ? subscriberOf(caller, udpPort, app) : undefined,
        reader: { address: caller.socketIp, agent: agentOf(caller), app: app ?? 'unknown' },
      }
      return afterwards(lists.list(request, caller), sentJsonAnswer)
    },
  })
}

function subscriberOf(caller: HttpCaller, port: number, app = 'unknown'): ListSubscriber {
  return { address: caller.socketIp, port, agent: agentOf(caller), app }
}
