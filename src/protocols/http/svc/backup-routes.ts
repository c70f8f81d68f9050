import { placeRoutes } from '../routing/endpoint.ts'
import type { Operations } from '../../../operations/operations.ts'
import { backupEndpoints } from '../endpoints/operator/operator-endpoints.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/operator/backup`: a function of Waypost's own, so only here. */
export function svcBackupRoutes({ operator }: Pick<Operations, 'operator'>): Route[] {
  const backup = backupEndpoints(operator)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/operator', [
    ['POST', '/backup', backup.make],
    ['GET', '/backup', backup.progress],
  ])
}
