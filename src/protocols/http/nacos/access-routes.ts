import { Refusal } from '../../../core/refusal.ts'
import { type AccessOperations, accessRows } from '../endpoints/access/access-rows.ts'
import { firstAdministratorEndpoint, loginEndpoint } from '../endpoints/access/sign-in-endpoints.ts'
import { jsonAnswer, textAnswer } from '../routing/answers.ts'
import { placeRoutes, type ErrorFormat, type Route } from '../routing/route.ts'
import { CONFIG_DEFAULTS } from './config-defaults.ts'

/** `/nacos/v1/auth` (http-compat.md section 7). */
export function nacosAccessRoutes(operations: AccessOperations): Route[] {
  const { signIn } = operations
  const prefix = '/nacos/v1/auth'
  return [
    ...placeRoutes({ ...CONFIG_DEFAULTS, errors: loginErrors }, prefix, [
      ['POST', '/login', loginEndpoint(signIn)],
      ['POST', '/users/login', loginEndpoint(signIn)],
    ]),
    ...placeRoutes({ ...CONFIG_DEFAULTS, errors: firstAdministratorErrors }, prefix, [
      ['POST', '/users/admin', firstAdministratorEndpoint(signIn)],
    ]),
    ...placeRoutes(CONFIG_DEFAULTS, prefix, accessRows(operations, { removesKnownOnly: false })),
  ]
}

/** A failed login is one text, as clients know it. */
const loginErrors: ErrorFormat = (error, context) =>
  error instanceof Refusal && error.code === 'unknown-user'
    ? textAnswer('unknown user!', 403)
    : CONFIG_DEFAULTS.errors(error, context)

const firstAdministratorErrors: ErrorFormat = (error, context) =>
  error instanceof Refusal && error.code === 'administrator-exists'
    ? jsonAnswer({ code: 409, message: 'have admin user cannot use it', data: null }, 409)
    : CONFIG_DEFAULTS.errors(error, context)
