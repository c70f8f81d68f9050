import { OK_TEXT } from '../routing/answers.ts'
import { allowingEmpty, namespaceId } from '../../parameters/fields.ts'
import { type Beaten, beatOperation } from '../endpoints/naming/beat-operation.ts'
import { instanceOperations } from '../endpoints/naming/instance-operations.ts'
import { instanceNotFound } from '../endpoints/naming/instance-detail.ts'
import { listOperation } from '../endpoints/naming/list-operation.ts'
import { metadataOperations } from '../endpoints/naming/metadata-operations.ts'
import type { NamingParts } from '../endpoints/naming/naming-parts.ts'
import { serviceOperations } from '../endpoints/naming/service-operations.ts'
import { placeRoutes } from '../routing/operation.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Answer, Route } from '../routing/route.ts'

/** Service discovery as interface.md has it. */
export function svcNamingRoutes(parts: NamingParts): Route[] {
  const instances = instanceOperations(parts)
  const services = serviceOperations(parts)
  const metadata = metadataOperations(parts, allowingEmpty(namespaceId))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/ns', [
    ['POST', '/instance', instances.register],
    ['DELETE', '/instance', instances.deregister],
    ['PUT', '/instance', instances.modify],
    ['GET', '/instance', instances.detail],
    ['GET', '/instance/list', listOperation(parts, () => 'svc')],
    ['PUT', '/instance/beat', beatOperation(parts, beatAnswer)],
    ['PUT', '/health/instance', instances.updateHealth],
    ['PUT', '/instance/metadata/batch', metadata.update],
    ['DELETE', '/instance/metadata/batch', metadata.remove],
    ['POST', '/service', services.create],
    ['PUT', '/service', services.update],
    ['DELETE', '/service', services.remove],
    ['GET', '/service', services.query],
    ['GET', '/service/list', services.list],
    ['PUT', '/cluster', services.saveCluster],
  ])
}

function beatAnswer(beaten: Beaten): Answer {
  if (beaten.kind === 'unknown') throw instanceNotFound(beaten.key, beaten.source)
  return OK_TEXT
}
