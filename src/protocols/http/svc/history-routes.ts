import { jsonAnswer } from '../answers.ts'
import { historyOperations } from '../config/history-operations.ts'
import type { HistoryParts } from '../config/history-queries.ts'
import { placeRoutes } from '../operation.ts'
import { SVC_RULES } from '../parameter-rules.ts'
import { problemErrors } from '../problem.ts'
import type { Route } from '../route.ts'

/** `/svc/v1/cs/history`: the list, the detail and the previous version. */
export function svcHistoryRoutes(parts: HistoryParts): Route[] {
  const history = historyOperations(parts, (value) => jsonAnswer(value))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
