import { jsonAnswer } from '../routing/answers.ts'
import { historyOperations } from '../endpoints/config/history-operations.ts'
import type { HistoryParts } from '../endpoints/config/history-queries.ts'
import { placeRoutes } from '../routing/operation.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/cs/history`: the list, the detail and the previous version. */
export function svcHistoryRoutes(parts: HistoryParts): Route[] {
  const history = historyOperations(parts, (value) => jsonAnswer(value))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
