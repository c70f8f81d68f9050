import { configErrors, namingErrors } from './nacos/nacos-errors.ts'
import { problemErrors } from './errors/problem.ts'
import type { ErrorFormat } from './routing/route.ts'

/** How errors are told on a path that no route has: in the format of the dialect it seems to be meant for. */
export function errorsOfPath(path: string): ErrorFormat {
  if (path.startsWith('/nacos/v1/ns')) return namingErrors
  return path.startsWith('/nacos') ? configErrors : problemErrors
}
