import { afterwards } from '../../../operations/afterwards.ts'
import { Type } from '../../parameters/schema.ts'
import { JAVA_DIALECT } from '../endpoints/naming-dialect.ts'
import { type INSTANCE_PARAMS, instanceEndpoints } from '../endpoints/naming/instance-endpoints.ts'
import { type NamingEndpointParts, serviceKeyOf } from '../endpoints/naming/naming-requests.ts'
import { type Endpoint, endpoint } from '../routing/endpoint.ts'
import { enveloped, failure, NO_INSTANCE, success } from './envelope.ts'

/** `POST /nacos/v3/client/ns/instance`: registers, or with `heartBeat=true` only says that the instance lives. */
export function registerOrBeat(parts: NamingEndpointParts): Endpoint {
  const { beats } = parts
  const register = enveloped(instanceEndpoints(parts, JAVA_DIALECT).register)
  const { properties } = register.params
  return endpoint({
    ...register,
    summary:
      'Registers an instance, or with heartBeat=true renews it; code 21003 where there is none to renew',
    params: Type.Object({
      ...(properties as typeof INSTANCE_PARAMS),
      heartBeat: Type.Optional(Type.Boolean({ description: 'Whether this is a beat only.' })),
    }),
    handle: (request) => {
      const { params, caller } = request
      if (params.heartBeat !== true) return register.handle(request)
      const { ip, port, clusterName: cluster } = params
      const beat = { serviceKey: serviceKeyOf(params), ip, port, cluster, full: undefined }
      return afterwards(beats.beat(beat, caller), ({ kind }) =>
        kind === 'unknown' ? failure(200, NO_INSTANCE) : success('ok'),
      )
    },
  })
}
