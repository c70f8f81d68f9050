import { jsonAnswer } from '../routing/answers.ts'
import type { Operations } from '../../../operations/operations.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import { SVC_RULES } from '../../parameters/parameter-rules.ts'
import { problemErrors } from '../errors/problem.ts'
import type { Route } from '../routing/route.ts'

/** `/svc/v1/cs/history`: the list, the detail and the previous version. */
export function svcHistoryRoutes(operations: Pick<Operations, 'history'>): Route[] {
  const history = historyEndpoints(operations.history, (value) => jsonAnswer(value))
  return placeRoutes({ rules: SVC_RULES, errors: problemErrors }, '/svc/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
