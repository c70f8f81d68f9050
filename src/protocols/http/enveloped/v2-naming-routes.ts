import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { groupOf, serviceNameOf } from '../../../core/naming/state/service.ts'
import type { ServiceDetail } from '../../../operations/naming/services.ts'
import * as fields from '../../parameters/fields.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'
import { Type } from '../../parameters/schema.ts'
import {
  JAVA_DIALECT,
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
  CHECKER_SCHEMA,
  SERVICE_SETTINGS,
  javaSelector,
} from '../endpoints/naming/naming-requests.ts'
import { beatEndpoint, nacosBeatAnswer } from '../endpoints/naming/beat-endpoint.ts'
import {
  deregisterEndpoint,
  instanceEndpoints,
  modifyEndpoint,
} from '../endpoints/naming/instance-endpoints.ts'
import { metadataEndpoints } from '../endpoints/naming/metadata-endpoints.ts'
import { serviceEndpoints } from '../endpoints/naming/service-endpoints.ts'
import { Json } from '../routing/answers.ts'
import { type Endpoint, endpoint, placeRoutes, type Route } from '../routing/route.ts'
import { NAMING_PART, answersEnvelope, enveloped, javaSuccess, success } from './envelope.ts'
import { instanceList } from './instance-list.ts'
import { instanceIdOf } from '../../../core/naming/state/instance.ts'

/** `/nacos/v2/ns`: instances and services (grpc-compat.md section 7). */
export function v2NamingRoutes(parts: NamingEndpointParts): Route[] {
  const instances = instanceEndpoints(parts, JAVA_DIALECT)
  const services = serviceEndpoints(parts, JAVA_DIALECT)
  const metadata = metadataEndpoints(parts, Type.Optional(fields.namespaceId), JAVA_DIALECT)
  return placeRoutes(NAMING_PART, '/nacos/v2/ns', [
    ['POST', '/instance', enveloped(instances.register)],
    ['DELETE', '/instance', enveloped(deregisterEndpoint(parts, true))],
    ['PUT', '/instance', enveloped(modifyEndpoint(parts, () => false))],
    ['GET', '/instance', instanceDetail(parts)],
    ['GET', '/instance/list', instanceList(parts, (list) => list)],
    ['PUT', '/instance/beat', beatEndpoint(parts, nacosBeatAnswer)],
    ['PUT', '/instance/metadata/batch', enveloped(metadata.update)],
    ['DELETE', '/instance/metadata/batch', enveloped(metadata.remove)],
    ['PUT', '/health', enveloped(instances.updateHealth)],
    ['PUT', '/health/instance', enveloped(instances.updateHealth)],
    ['POST', '/service', enveloped(services.create)],
    ['PUT', '/service', enveloped(services.update)],
    ['DELETE', '/service', enveloped(services.remove)],
    ['GET', '/service', serviceDetail(parts)],
    ['GET', '/service/list', serviceNames(parts)],
  ])
}

const SERVICE_DETAIL = Json.object({
  namespace: Json.string(),
  serviceName: Json.string(),
  groupName: Json.string(),
  ...SERVICE_SETTINGS,
  selector: Json.map(Json.anyOf(Json.string(), Json.list(Json.string()))),
  ephemeral: Json.boolean('Whether it has an instance that beats or has a connection.'),
  clusterMap: Json.map(
    Json.object({
      clusterName: Json.string(),
      healthChecker: CHECKER_SCHEMA,
      metadata: Json.map(Json.string()),
      hosts: Json.constant(null),
    }),
  ),
})

function serviceDetail({ services }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query service',
    permission: services.read.permission,
    answers: answersEnvelope(SERVICE_DETAIL),
    params: Type.Object(SERVICE_PARAMS),
    handle: ({ params, caller }) => javaSuccess(detailJson(services.read(serviceKeyOf(params), caller))),
  })
}

function detailJson({ service, clusters, hasEphemeral }: ServiceDetail): object {
  const { key, protectThreshold, metadata, selector } = service
  const clusterMap = clusters.map(({ name, healthChecker, metadata: of }) => {
    // Java leaves the hosts empty here.
    return [name, { clusterName: name, healthChecker, metadata: of, hosts: null }]
  })
  return {
    namespace: key.namespaceId,
    serviceName: serviceNameOf(key.groupedName),
    groupName: groupOf(key.groupedName),
    protectThreshold,
    metadata,
    selector: javaSelector(selector),
    ephemeral: hasEphemeral,
    clusterMap: Object.fromEntries(clusterMap) as object,
  }
}

/** The most names on a page, whatever a client asks for. */
const MOST_NAMES = 500

function serviceNames({ services }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query service list',
    permission: services.list.permission,
    answers: answersEnvelope(Json.object({ count: Json.integer(), services: Json.list(Json.string()) })),
    params: Type.Object({
      namespaceId: Type.Optional(fields.namespaceId),
      groupName: fields.groupNameOrDefault,
      selector: Type.Optional(fields.selector),
      pageNo: fields.withDefault(fields.pageNoOrZero, 1),
      pageSize: fields.withDefault(fields.pageSizeOrZero, 20),
    }),
    handle: ({ params, caller }) => {
      const page = { pageNo: Math.max(params.pageNo, 1), pageSize: Math.min(params.pageSize, MOST_NAMES) }
      const { groupName: group, selector } = params
      const filter = parseServiceFilter(selector)
      const request = { namespaceId: toNamespaceId(params.namespaceId), group, filter, page }
      const { entries, totalCount } = services.list(request, caller)
      return success({ count: totalCount, services: entries.map(serviceNameOf) })
    },
  })
}

const INSTANCE_DETAIL = Json.object({
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
function instanceDetail({ instances }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query instance detail',
    permission: instances.read.permission,
    answers: answersEnvelope(INSTANCE_DETAIL),
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
        ip: address.ip,
        port: address.port,
        clusterName: address.cluster,
        weight,
        healthy,
        instanceId,
        metadata,
      })
    },
  })
}
