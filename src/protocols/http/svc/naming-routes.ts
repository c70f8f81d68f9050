import { OK_TEXT, ANSWERS_OK, answersJson, Json } from '../routing/answers.ts'
import { allowingEmpty, namespaceId } from '../../parameters/fields.ts'
import { unknownInstance } from '../../../operations/naming/beats.ts'
import { type BeatAnswerOf, beatEndpoint } from '../endpoints/naming/beat-endpoint.ts'
import { SVC_DIALECT, type NamingEndpointParts } from '../endpoints/naming/naming-requests.ts'
import { catalogEndpoints } from '../endpoints/naming/catalog-endpoints.ts'
import { discoveryEndpoints } from '../endpoints/naming/discovery-endpoints.ts'
import { instanceEndpoints } from '../endpoints/naming/instance-endpoints.ts'
import { listEndpoint } from '../endpoints/naming/list-endpoint.ts'
import { metadataEndpoints, modifyManyEndpoint } from '../endpoints/naming/metadata-endpoints.ts'
import { serviceEndpoints } from '../endpoints/naming/service-endpoints.ts'
import { placeRoutes, type Route } from '../routing/route.ts'
import { SVC_RULES } from '../../parameters/schema.ts'
import { problemErrors } from '../errors/problem.ts'

/** Service discovery as interface.md has it, and the views of services for people. */
export function svcNamingRoutes(parts: NamingEndpointParts): Route[] {
  const instances = instanceEndpoints(parts, SVC_DIALECT)
  const services = serviceEndpoints(parts, SVC_DIALECT)
  const metadata = metadataEndpoints(parts, allowingEmpty(namespaceId), SVC_DIALECT)
  const catalog = catalogEndpoints(parts, SVC_DIALECT)
  const discovery = discoveryEndpoints(parts, SVC_DIALECT)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/ns', [
    ['POST', '/instance', instances.register],
    ['DELETE', '/instance', instances.deregister],
    ['PUT', '/instance', instances.modify],
    ['GET', '/instance', instances.detail],
    ['GET', '/instance/list', { ...listEndpoint(parts, () => 'svc'), answers: answersJson(LIST) }],
    ['PUT', '/instance/beat', { ...beatEndpoint(parts, beatAnswer, true), answers: ANSWERS_OK }],
    ['PUT', '/health/instance', instances.updateHealth],
    ['PUT', '/instance/batch', modifyManyEndpoint(parts)],
    ['PUT', '/instance/metadata/batch', metadata.update],
    ['DELETE', '/instance/metadata/batch', metadata.remove],
    ['POST', '/service', services.create],
    ['PUT', '/service', services.update],
    ['DELETE', '/service', services.remove],
    ['GET', '/service', services.query],
    ['GET', '/service/list', services.list],
    ['GET', '/service/names', discovery.names],
    ['GET', '/service/subscribers', discovery.subscribers],
    ['PUT', '/cluster', services.saveCluster],
    ['GET', '/catalog/services', catalog.services],
    ['GET', '/catalog/service', catalog.service],
    ['GET', '/catalog/instances', catalog.instances],
    ['GET', '/health/checkers', discovery.checkers],
  ])
}

const LIST = Json.named(
  'InstanceList',
  Json.object({
    name: Json.string('As <group>@@<service>.'),
    groupName: Json.string(),
    clusters: Json.string('As they were asked for.'),
    cacheMillis: Json.integer(),
    hosts: Json.list(
      Json.named(
        'Instance',
        Json.object({
          instanceId: Json.string(),
          ip: Json.string(),
          port: Json.integer(),
          weight: Json.number(),
          healthy: Json.boolean(),
          enabled: Json.boolean(),
          ephemeral: Json.boolean(),
          clusterName: Json.string(),
          serviceName: Json.string(),
          metadata: Json.map(Json.string()),
          instanceHeartBeatInterval: Json.integer(),
          instanceHeartBeatTimeOut: Json.integer(),
          ipDeleteTimeout: Json.integer(),
          instanceIdGenerator: Json.string(),
        }),
      ),
    ),
    lastRefTime: Json.time(),
    checksum: Json.string(),
    allIPs: Json.constant(false),
    reachProtectionThreshold: Json.boolean(),
    valid: Json.constant(true),
  }),
)

const beatAnswer: BeatAnswerOf = ({ kind }, request) => {
  if (kind === 'unknown' && request !== undefined) throw unknownInstance(request)
  return OK_TEXT
}
