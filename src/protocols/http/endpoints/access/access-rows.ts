import type { Operations } from '../../../../operations/operations.ts'
import type { Endpoint } from '../../routing/endpoint.ts'
import type { Method } from '../../routing/route.ts'
import {
  addPermissionEndpoint,
  listPermissionsEndpoint,
  removePermissionEndpoint,
} from './permission-endpoints.ts'
import {
  addRoleEndpoint,
  listRolesEndpoint,
  removeRoleEndpoint,
  suggestRolesEndpoint,
} from './role-endpoints.ts'
import { rotateKeysEndpoint } from './sign-in-endpoints.ts'
import {
  createUserEndpoint,
  listUsersEndpoint,
  removeUserEndpoint,
  suggestUsersEndpoint,
  updateUserEndpoint,
} from './user-endpoints.ts'

/** Dependencies of the endpoints of `…/v1/auth`. */
export type AccessOperations = Pick<Operations, 'signIn' | 'users' | 'roles' | 'permissions'>

/** How a dialect differs here. */
export interface AccessDialect {
  /** Whether the removal of an unknown user is refused. */
  readonly removesKnownOnly: boolean
}

/** The paths under `…/v1/auth` for keys, users, roles and permissions: they are the same in both dialects. */
export function accessRows(
  { signIn, users, roles, permissions }: AccessOperations,
  { removesKnownOnly }: AccessDialect,
): (readonly [Method, string, Endpoint])[] {
  return [
    ['POST', '/keys/rotate', rotateKeysEndpoint(signIn)],
    ['GET', '/users', listUsersEndpoint(users)],
    ['GET', '/users/search', suggestUsersEndpoint(users)],
    ['POST', '/users', createUserEndpoint(users)],
    ['PUT', '/users', updateUserEndpoint(users)],
    ['DELETE', '/users', removeUserEndpoint(users, removesKnownOnly)],
    ['GET', '/roles', listRolesEndpoint(roles)],
    ['GET', '/roles/search', suggestRolesEndpoint(roles)],
    ['POST', '/roles', addRoleEndpoint(roles)],
    ['DELETE', '/roles', removeRoleEndpoint(roles)],
    ['GET', '/permissions', listPermissionsEndpoint(permissions)],
    ['POST', '/permissions', addPermissionEndpoint(permissions)],
    ['DELETE', '/permissions', removePermissionEndpoint(permissions)],
  ]
}
