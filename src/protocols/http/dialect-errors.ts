import { envelopedErrors } from './enveloped/envelope.ts'
import { configErrors, namingErrors } from './nacos/nacos-errors.ts'
import { problemErrors } from './errors/problem.ts'
import type { ErrorFormat } from './routing/route.ts'

/** The error format of an unknown path: of the dialect that its beginning names. */
export function errorsOfPath(path: string): ErrorFormat {
  if (path.startsWith('/nacos/v1/ns')) return namingErrors
  if (/^\/nacos\/v[23]\//.test(path)) return envelopedErrors
  return path.startsWith('/nacos') ? configErrors : problemErrors
}
