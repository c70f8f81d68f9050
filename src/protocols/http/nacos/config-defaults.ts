import { csJsonAnswer } from '../routing/answers.ts'
import { configErrors } from './nacos-errors.ts'
import type { RouteDefaults, Answer } from '../routing/route.ts'
import { NACOS_CONFIG_RULES } from '../../parameters/schema.ts'

/** How the configuration, console and core part of `/nacos` reads parameters and answers errors. */
export const CONFIG_DEFAULTS: RouteDefaults = Object.freeze({
  rules: NACOS_CONFIG_RULES,
  errors: configErrors,
})

/** The headers that keep watched items out of caches (http-compat.md section 1). */
export const NO_CACHE = Object.freeze({
  Pragma: 'no-cache',
  Expires: 'Thu, 01 Jan 1970 00:00:00 GMT',
  'Cache-Control': 'no-cache,no-store',
})

/** The envelope of many answers of the configuration part. */
export function csEnvelope(data: unknown, message: string | null = null, code = 200): Answer {
  return { ...csJsonAnswer({ code, message, data }), status: code }
}
