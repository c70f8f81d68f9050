import { csJsonAnswer } from '../routing/answers.ts'
import type { Operations } from '../../../operations/operations.ts'
import { historyEndpoints } from '../endpoints/config/history-endpoints.ts'
import { placeRoutes } from '../routing/endpoint.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'

/** `/nacos/v1/cs/history`: the list, the detail and the previous version. */
export function nacosHistoryRoutes(operations: Pick<Operations, 'history'>): Route[] {
  const history = historyEndpoints(operations.history, (value) => csJsonAnswer(value))
  return placeRoutes(CONFIG_DEFAULTS, '/nacos/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
