import type { LongText } from '../../../core/text/long-text.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import * as fields from '../../parameters/fields.ts'
import { splitClusters } from '../../parameters/grouped-name.ts'
import { Type } from '../../parameters/schema.ts'
import {
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
} from '../endpoints/naming/naming-requests.ts'
import { agentOf } from '../endpoints/config/http-viewer.ts'
import { type Endpoint, endpoint } from '../routing/route.ts'
import { successOf } from './envelope.ts'

/** The text of a list, or of a part of it. */
type ListData = Buffer | LongText

/**
 * The instances of a service, without subscribing to it: these clients receive changes over gRPC. `dataOf`
 * picks its part of the text of the list.
 */
export function instanceList({ lists }: NamingEndpointParts, dataOf: (list: ListData) => ListData): Endpoint {
  return endpoint({
    summary: 'Query instances',
    permission: lists.list.permission,
    params: Type.Object({
      ...SERVICE_PARAMS,
      clusterName: fields.withDefault(fields.clusters, ''),
      healthyOnly: fields.withDefault(fields.healthyOnly, false),
      ip: Type.Optional(
        fields.withDescription(fields.clientIP, 'The address of the consumer, for selectors.'),
      ),
    }),
    handle: ({ params, caller }) => {
      const { clusterName: clustersText, healthyOnly, ip } = params
      const list = lists.list(
        {
          key: serviceKeyOf(params),
          format: 'nacos-plain',
          clustersText,
          clusters: splitClusters(clustersText),
          healthyOnly,
          consumerIp: ip ?? caller.ip,
          subscriber: undefined,
          reader: { address: caller.socketIp, agent: agentOf(caller), app: 'unknown' },
        },
        caller,
      )
      return afterwards(list, (body) =>
        successOf(dataOf(typeof body === 'string' ? Buffer.from(body) : body)),
      )
    },
  })
}

const HOSTS = '"hosts":'
const AFTER_HOSTS = ',"lastRefTime":'

/** The hosts in the text of a list. Within a text of JSON a quote has a backslash before it, so both marks are members. */
export function hostsOf(list: ListData): ListData {
  // In pieces, the hosts are apart from the text before and after them.
  if (!Buffer.isBuffer(list))
    return { head: Buffer.from('['), rest: [...list.rest.slice(0, -1), Buffer.from(']')] }
  return list.subarray(list.indexOf(HOSTS) + HOSTS.length, list.lastIndexOf(AFTER_HOSTS))
}
