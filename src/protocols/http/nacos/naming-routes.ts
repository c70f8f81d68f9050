import { Type, NACOS_NAMING_RULES } from '../../parameters/schema.ts'
import * as fields from '../../parameters/fields.ts'
import { JAVA_DIALECT, type NamingEndpointParts } from '../endpoints/naming/naming-requests.ts'
import { beatEndpoint, nacosBeatAnswer } from '../endpoints/naming/beat-endpoint.ts'
import { catalogEndpoints } from '../endpoints/naming/catalog-endpoints.ts'
import { discoveryEndpoints } from '../endpoints/naming/discovery-endpoints.ts'
import {
  deregisterEndpoint,
  instanceEndpoints,
  modifyEndpoint,
} from '../endpoints/naming/instance-endpoints.ts'
import { listEndpoint } from '../endpoints/naming/list-endpoint.ts'
import { metadataEndpoints } from '../endpoints/naming/metadata-endpoints.ts'
import { serviceEndpoints } from '../endpoints/naming/service-endpoints.ts'
import { namingErrors } from './nacos-errors.ts'
import { type Endpoint, placeRoutes, type Route, endpoint } from '../routing/route.ts'
import { isJavaClient, nacosListFormat } from './java-clients.ts'
import { serviceNameOf } from '../../../core/naming/state/service.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import { jsonAnswer } from '../routing/answers.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'

/** Service discovery for the clients of `/nacos/v1` (http-compat.md sections 1, 4, 8). */
export function nacosNamingRoutes(parts: NamingEndpointParts): Route[] {
  const instances = instanceEndpoints(parts, JAVA_DIALECT)
  const services = serviceEndpoints(parts, JAVA_DIALECT)
  const metadata = metadataEndpoints(parts, Type.Optional(fields.namespaceId), JAVA_DIALECT)
  const catalog = catalogEndpoints(parts, JAVA_DIALECT)
  const list = listEndpoint(parts, nacosListFormat)
  const discovery = discoveryEndpoints(parts, JAVA_DIALECT)
  return placeRoutes({ rules: NACOS_NAMING_RULES, errors: namingErrors }, '/nacos/v1/ns', [
    ['POST', '/instance', instances.register],
    ['DELETE', '/instance', deregisterEndpoint(parts, true)],
    ['PUT', '/instance', modifyEndpoint(parts, (caller) => !isJavaClient(caller))],
    ['PATCH', '/instance', instances.modify],
    ['GET', '/instance', instances.detail],
    ['GET', '/instance/list', list],
    ['PUT', '/instance/beat', beatEndpoint(parts, nacosBeatAnswer)],
    ['PUT', '/health/instance', instances.updateHealth],
    ['PUT', '/health', instances.updateHealth],
    ['GET', '/health/checkers', discovery.checkers],
    ['PUT', '/instance/metadata/batch', metadata.update],
    ['DELETE', '/instance/metadata/batch', metadata.remove],
    ['POST', '/service', services.create],
    ['PUT', '/service', services.update],
    ['DELETE', '/service', services.remove],
    ['GET', '/service', services.query],
    ['GET', '/service/list', serviceListEndpoint(parts)],
    ['GET', '/service/names', discovery.names],
    ['GET', '/service/subscribers', discovery.subscribers],
    ['PUT', '/cluster', services.saveCluster],
    ['GET', '/catalog/services', catalog.services],
    ['GET', '/catalog/service', catalog.service],
    ['GET', '/catalog/instances', catalog.instances],
    ['GET', '/api/allDomNames', discovery.allDomNames],
    ['GET', '/api/srvIPXT', underDom(list)],
  ])
}

/** The list as DNS front ends ask for it: the service is called `dom` (http-compat.md section 8). */
function underDom(list: Endpoint): Endpoint {
  const serviceName = fields.withAliases(fields.serviceName, 'dom')
  return { ...list, params: Type.Object({ ...list.params.properties, serviceName }) }
}

const EVERY_GROUP = '*'

/**
 * `GET …/service/list` with the additions of 1.4 (http-compat.md section 1, Services). `groupName=*` lists
 * grouped names of every group, `selector` filters by metadata, and a page of size 0 is empty.
 */
function serviceListEndpoint({ services }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query service list',
    permission: services.list.permission,
    params: Type.Object({
      pageNo: fields.pageNoOrZero,
      pageSize: fields.pageSizeOrZero,
      groupName: fields.withDefault(fields.groupNameOrAll, fields.DEFAULT_GROUP),
      namespaceId: Type.Optional(fields.namespaceId),
      selector: Type.Optional(fields.selector),
    }),
    handle: ({ params, caller }) => {
      const { pageNo, pageSize, groupName } = params
      const namespaceId = toNamespaceId(params.namespaceId)
      const isEveryGroup = groupName === EVERY_GROUP
      const group = isEveryGroup ? undefined : groupName
      const filter = parseServiceFilter(params.selector)
      const page = { pageNo: Math.max(pageNo, 1), pageSize }
      const { entries, totalCount } = services.list({ namespaceId, group, filter, page }, caller)
      return jsonAnswer({ doms: isEveryGroup ? entries : entries.map(serviceNameOf), count: totalCount })
    },
  })
}
