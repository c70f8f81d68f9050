import { namingErrors } from './nacos-errors.ts'
import { placeRoutes } from '../routing/operation.ts'
import { operatorOperations, type OperatorParts } from '../endpoints/operator/operator-operations.ts'
import { NACOS_NAMING_RULES } from '../../parameters/parameter-rules.ts'
import type { Route } from '../routing/route.ts'

/** The operator functions for tools of `/nacos/v1`: switches are kept unless debug=true, and `/ops` is an alias. */
export function nacosOperatorRoutes(parts: OperatorParts): Route[] {
  const operator = operatorOperations(parts, false)
  const manners = { rules: NACOS_NAMING_RULES, errors: namingErrors }
  const aliases = ['/operator', '/ops'].flatMap((prefix) =>
    placeRoutes(manners, `/nacos/v1/ns${prefix}`, [
      ['GET', '/switches', operator.switches],
      ['PUT', '/switches', operator.setSwitch],
      ['GET', '/metrics', operator.metrics],
      ['GET', '/servers', operator.servers],
    ]),
  )
  return [...aliases, ...placeRoutes(manners, '/nacos/v1/ns', [['GET', '/raft/leader', operator.leader]])]
}
