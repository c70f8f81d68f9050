import { Type } from '../../parameters/schema.ts'
import { jsonTextAnswer } from '../routing/answers.ts'
import { namespaceId } from '../../parameters/fields.ts'
import { type Beaten, beatOperation } from '../endpoints/naming/beat-operation.ts'
import { catalogOperations } from '../endpoints/naming/catalog-operations.ts'
import { discoveryOperations } from '../endpoints/naming/discovery-operations.ts'
import { instanceOperations, modifyOperation } from '../endpoints/naming/instance-operations.ts'
import { listOperation } from '../endpoints/naming/list-operation.ts'
import { metadataOperations } from '../endpoints/naming/metadata-operations.ts'
import type { NamingParts } from '../endpoints/naming/naming-parts.ts'
import { serviceOperations } from '../endpoints/naming/service-operations.ts'
import { namingErrors } from './nacos-errors.ts'
import { placeRoutes } from '../routing/operation.ts'
import { NACOS_NAMING_RULES } from '../../parameters/parameter-rules.ts'
import type { Answer, Route } from '../routing/route.ts'
import { isJavaClient, nacosListFormat } from './java-clients.ts'
import { serviceListOperation } from './service-list.ts'
import { srvIPXTOperation } from './srv-ipxt.ts'

/** Service discovery for the clients of `/nacos/v1` (http-compat.md sections 1, 4, 8). */
export function nacosNamingRoutes(parts: NamingParts): Route[] {
  const instances = instanceOperations(parts)
  const services = serviceOperations(parts)
  const metadata = metadataOperations(parts, Type.Optional(namespaceId))
  const catalog = catalogOperations(parts)
  const discovery = discoveryOperations(parts)
  return placeRoutes({ rules: NACOS_NAMING_RULES, errors: namingErrors }, '/nacos/v1/ns', [
    ['POST', '/instance', instances.register],
    ['DELETE', '/instance', instances.deregister],
    ['PUT', '/instance', modifyOperation(parts, (caller) => !isJavaClient(caller))],
    ['PATCH', '/instance', instances.modify],
    ['GET', '/instance', instances.detail],
    ['GET', '/instance/list', listOperation(parts, nacosListFormat)],
    ['PUT', '/instance/beat', beatOperation(parts, (beaten) => beatAnswer(parts, beaten))],
    ['PUT', '/health/instance', instances.updateHealth],
    ['PUT', '/health', instances.updateHealth],
    ['GET', '/health/checkers', discovery.checkers],
    ['PUT', '/instance/metadata/batch', metadata.update],
    ['DELETE', '/instance/metadata/batch', metadata.remove],
    ['POST', '/service', services.create],
    ['PUT', '/service', services.update],
    ['DELETE', '/service', services.remove],
    ['GET', '/service', services.query],
    ['GET', '/service/list', serviceListOperation(parts)],
    ['GET', '/service/names', discovery.names],
    ['GET', '/service/subscribers', discovery.subscribers],
    ['PUT', '/cluster', services.saveCluster],
    ['GET', '/catalog/services', catalog.services],
    ['GET', '/catalog/service', catalog.service],
    ['GET', '/catalog/instances', catalog.instances],
    ['GET', '/api/allDomNames', discovery.allDomNames],
    ['GET', '/api/srvIPXT', srvIPXTOperation(parts)],
  ])
}

/** Always 200: clients read when to beat next from it, and whether to register again (http-compat.md section 4). */
function beatAnswer({ state }: NamingParts, beaten: Beaten): Answer {
  const { clientBeatInterval, lightBeatEnabled } = state.switches
  const code = beaten.kind === 'unknown' ? 20404 : 10200
  const intervalMs = beaten.kind === 'unknown' ? clientBeatInterval : beaten.intervalMs
  return jsonTextAnswer(
    `{"clientBeatInterval":${intervalMs},"code":${code},"lightBeatEnabled":${lightBeatEnabled}}`,
  )
}
