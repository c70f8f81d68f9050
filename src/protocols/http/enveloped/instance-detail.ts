import { instanceIdOf } from '../../../core/naming/state/instance.ts'
import * as fields from '../../parameters/fields.ts'
import { Type } from '../../parameters/schema.ts'
import {
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
} from '../endpoints/naming/naming-requests.ts'
import { Json } from '../routing/answer-schema.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { answersEnvelope, javaSuccess } from './envelope.ts'

const DETAIL = Json.object({
  serviceName: Json.string('As <group>@@<service>.'),
  ip: Json.string(),
  port: Json.integer(),
  clusterName: Json.string(),
  weight: Json.number(),
  healthy: Json.boolean(),
  instanceId: Json.string(),
  metadata: Json.map(Json.string()),
})

/** `GET /nacos/v2/ns/instance`. */
export function instanceDetail({ instances }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query instance detail',
    permission: instances.read.permission,
    answers: answersEnvelope(DETAIL),
    params: Type.Object({
      ...SERVICE_PARAMS,
      ip: fields.ip,
      port: fields.port,
      clusterName: Type.Optional(fields.clusterName),
    }),
    handle: ({ params, caller }) => {
      const { ip, port, clusterName: cluster } = params
      const request = { serviceKey: serviceKeyOf(params), ip, port, cluster, ephemeral: undefined }
      const { record, healthy, metadata, entry } = instances.read(request, caller)
      const { address, weight } = record
      const { groupedName: serviceName } = entry.service.key
      const instanceId = instanceIdOf(address, serviceName)
      return javaSuccess({
        serviceName,
        ip,
        port,
        clusterName: address.cluster,
        weight,
        healthy,
        instanceId,
        metadata,
      })
    },
  })
}
