import type { Operations } from '../../../operations/operations.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { auditEndpoint } from '../endpoints/audit/audit-endpoints.ts'
import { problemErrors } from '../errors/problem.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'

/** The audit is a function of Waypost's own, so only here. */
export function svcAuditRoutes({ audit }: Pick<Operations, 'audit'>): Route[] {
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1', [
    ['GET', '/audit', auditEndpoint(audit)],
  ])
}
