import { csJsonAnswer } from '../routing/answers.ts'
import { historyOperations } from '../endpoints/config/history-operations.ts'
import type { HistoryParts } from '../endpoints/config/history-queries.ts'
import { placeRoutes } from '../routing/operation.ts'
import type { Route } from '../routing/route.ts'
import { CONFIG_MANNERS } from './config-manners.ts'

/** `/nacos/v1/cs/history`: the list, the detail and the previous version. */
export function nacosHistoryRoutes(parts: HistoryParts): Route[] {
  const history = historyOperations(parts, (value) => csJsonAnswer(value))
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
