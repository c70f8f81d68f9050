import { placeRoutes } from '../operation.ts'
import { backupOperations, type BackupParts } from '../operator/backup-operations.ts'
import { SVC_RULES } from '../parameter-rules.ts'
import { problemErrors } from '../problem.ts'
import type { Route } from '../route.ts'

/** `/svc/v1/operator/backup`: a function of Waypost's own, so only here. */
export function svcBackupRoutes(parts: BackupParts): Route[] {
  const backup = backupOperations(parts)
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/operator', [
    ['POST', '/backup', backup.make],
    ['GET', '/backup', backup.progress],
  ])
}
