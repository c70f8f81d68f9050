import { csJsonAnswer } from '../answers.ts'
import { historyOperations } from '../config/history-operations.ts'
import type { HistoryParts } from '../config/history-queries.ts'
import { placeRoutes } from '../operation.ts'
import type { Route } from '../route.ts'
import { CONFIG_MANNERS } from './config-manners.ts'

/** `/nacos/v1/cs/history`: the list, the detail and the previous version. */
export function nacosHistoryRoutes(parts: HistoryParts): Route[] {
  const history = historyOperations(parts, (value) => csJsonAnswer(value))
  return placeRoutes(CONFIG_MANNERS, '/nacos/v1/cs', [
    ['GET', '/history', history.read],
    ['GET', '/history/previous', history.previous],
  ])
}
