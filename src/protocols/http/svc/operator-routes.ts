import { placeRoutes } from '../routing/endpoint.ts'
import type { Operations } from '../../../operations/operations.ts'
import { operatorEndpoints } from '../endpoints/operator/operator-endpoints.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** The operator functions as interface.md has them: a switch is set for this server only unless debug=false. */
export function svcOperatorRoutes(operations: Pick<Operations, 'operator'>): Route[] {
  const operator = operatorEndpoints(operations.operator, true)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/ns', [
    ['GET', '/operator/switches', operator.switches],
    ['PUT', '/operator/switches', operator.setSwitch],
    ['GET', '/operator/metrics', operator.metrics],
    ['GET', '/operator/servers', operator.servers],
    ['GET', '/raft/leader', operator.leader],
  ])
}
