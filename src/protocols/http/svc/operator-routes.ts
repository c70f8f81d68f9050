import { placeRoutes } from '../routing/operation.ts'
import { operatorOperations, type OperatorParts } from '../endpoints/operator/operator-operations.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** The operator functions as interface.md has them: a switch is set for this server only unless debug=false. */
export function svcOperatorRoutes(parts: OperatorParts): Route[] {
  const operator = operatorOperations(parts, true)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/ns', [
    ['GET', '/operator/switches', operator.switches],
    ['PUT', '/operator/switches', operator.setSwitch],
    ['GET', '/operator/metrics', operator.metrics],
    ['GET', '/operator/servers', operator.servers],
    ['GET', '/raft/leader', operator.leader],
  ])
}
