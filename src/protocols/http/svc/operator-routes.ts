import type { Operations } from '../../../operations/operations.ts'
import { auditEndpoint } from '../endpoints/audit/audit-endpoints.ts'
import { placeRoutes, type Route } from '../routing/route.ts'
import { SVC_DIALECT } from '../endpoints/naming/naming-requests.ts'
import {
  backupEndpoints,
  clusterEndpoint,
  type OperatorEndpointParts,
  operatorEndpoints,
} from '../endpoints/operator/operator-endpoints.ts'
import { importStateEndpoint, type ImportStateParts } from '../endpoints/transfer/import-state-endpoint.ts'
import { SVC_RULES } from '../../parameters/schema.ts'
import { problemErrors } from '../errors/problem.ts'

/**
 * The operator functions as interface.md has them: a switch is set for this server only unless debug=false. Backups,
 * the reports of all servers and the audit are functions of Waypost's own, so only here.
 */
export function svcOperatorRoutes(
  parts: OperatorEndpointParts & ImportStateParts & Pick<Operations, 'audit'>,
): Route[] {
  const operator = operatorEndpoints(parts, SVC_DIALECT)
  const backup = backupEndpoints(parts.operator)
  const importState = importStateEndpoint(parts)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1', [
    ['GET', '/ns/operator/switches', operator.switches],
    ['PUT', '/ns/operator/switches', operator.setSwitch],
    ['GET', '/ns/operator/metrics', operator.metrics],
    ['GET', '/ns/operator/servers', operator.servers],
    ['GET', '/ns/raft/leader', operator.leader],
    ['GET', '/operator/cluster', clusterEndpoint(parts)],
    ['POST', '/operator/backup', backup.make],
    ['GET', '/operator/backup', backup.progress],
    ['POST', '/operator/import', importState],
    ['GET', '/audit', auditEndpoint(parts.audit)],
  ])
}
