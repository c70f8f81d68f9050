import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { groupOf, serviceNameOf } from '../../../core/naming/state/service.ts'
import type { ServiceDetail } from '../../../operations/naming/services.ts'
import * as fields from '../../parameters/fields.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'
import { Type } from '../../parameters/schema.ts'
import { JAVA_DIALECT } from '../endpoints/naming-dialect.ts'
import { beatEndpoint } from '../endpoints/naming/beat-endpoint.ts'
import {
  deregisterEndpoint,
  instanceEndpoints,
  modifyEndpoint,
} from '../endpoints/naming/instance-endpoints.ts'
import { javaSelector } from '../endpoints/naming/java-selector.ts'
import { metadataEndpoints } from '../endpoints/naming/metadata-endpoints.ts'
import { nacosBeatAnswer } from '../endpoints/naming/nacos-beat-answer.ts'
import {
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
} from '../endpoints/naming/naming-requests.ts'
import { CHECKER_SCHEMA, SERVICE_SETTINGS } from '../endpoints/naming/naming-schemas.ts'
import { serviceEndpoints } from '../endpoints/naming/service-endpoints.ts'
import { Json } from '../routing/answer-schema.ts'
import { type Endpoint, endpoint, placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { NAMING_PART } from './defaults.ts'
import { answersEnvelope, enveloped, javaSuccess, success } from './envelope.ts'
import { instanceList } from './instance-list.ts'
import { instanceDetail } from './instance-detail.ts'

/** `/nacos/v2/ns`: instances and services (grpc-compat.md section 7). */
export function v2NamingRoutes(parts: NamingEndpointParts): Route[] {
  const instances = instanceEndpoints(parts, JAVA_DIALECT)
  const services = serviceEndpoints(parts, JAVA_DIALECT)
  const metadata = metadataEndpoints(parts, Type.Optional(fields.namespaceId))
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

const DETAIL = Json.object({
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
    answers: answersEnvelope(DETAIL),
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
