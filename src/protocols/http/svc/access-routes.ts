import type { Operations } from '../../../operations/operations.ts'
import { SVC_RULES } from '../../parameters/schema.ts'
import { type AccessOperations, accessRows } from '../endpoints/access/access-rows.ts'
import {
  beginSessionEndpoint,
  endSessionEndpoint,
  showSessionEndpoint,
  firstAdministratorEndpoint,
  loginEndpoint,
  renewEndpoint,
} from '../endpoints/access/sign-in-endpoints.ts'
import { problemErrors } from '../errors/problem.ts'
import { placeRoutes, type Route } from '../routing/route.ts'

const DEFAULTS = { rules: SVC_RULES, errors: problemErrors }

/** `/svc/v1/auth`: as `/nacos/v1/auth` (http-compat.md section 7), with errors of `/svc`; and sessions of browsers. */
export function svcAccessRoutes(operations: AccessOperations & Pick<Operations, 'sessions'>): Route[] {
  const { signIn, sessions } = operations
  const auth = placeRoutes(DEFAULTS, '/svc/v1/auth', [
    ['POST', '/login', loginEndpoint(signIn)],
    ['POST', '/users/login', loginEndpoint(signIn)],
    ['POST', '/renew', renewEndpoint(signIn)],
    ['POST', '/users/admin', firstAdministratorEndpoint(signIn)],
    ...accessRows(operations, { removesKnownOnly: true }),
  ])
  const session = placeRoutes(DEFAULTS, '/svc/v1/console/session', [
    ['POST', '', beginSessionEndpoint(sessions)],
    ['GET', '', showSessionEndpoint(sessions)],
    ['DELETE', '', endSessionEndpoint(sessions)],
  ])
  return [...auth, ...session]
}
