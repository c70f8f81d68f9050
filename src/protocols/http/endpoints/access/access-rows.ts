import type { Operations } from '../../../../operations/operations.ts'
import { type Endpoint, type Method, endpoint } from '../../routing/route.ts'
import { rotateKeysEndpoint } from './sign-in-endpoints.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { ANSWERS_DONE, doneAnswer, PAGE_PARAMS, pageAnswer, searchFor } from './page-params.ts'
import { answersJson, Json, pageSchema, jsonAnswer } from '../../routing/answers.ts'

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

const PERMISSION_PARAMS = Type.Object({
  role: fields.role,
  resource: fields.resource,
  action: Type.Enum(['r', 'w', 'rw'], { description: 'To read, to write, or both.' }),
})

const PERMISSION = Json.named(
  'RolePermission',
  Json.object({
    role: Json.string(),
    resource: Json.string('`namespace:group:name`, with `*` for any characters.'),
    action: Json.words(['r', 'w', 'rw']),
  }),
)
const PERMISSION_PAGE = pageSchema('RolePermissionPage', PERMISSION)

function listPermissionsEndpoint(permissions: Operations['permissions']): Endpoint {
  return endpoint({
    summary: 'Lists the permissions of roles',
    permission: permissions.list.permission,
    answers: answersJson(PERMISSION_PAGE),
    params: Type.Object({ role: Type.Optional(fields.role), ...PAGE_PARAMS }),
    handle: ({ params, caller }) =>
      pageAnswer(
        permissions.list({ role: searchFor(params.role, params.search), page: params }, caller),
        ({ role, resource, action }) => ({ role, resource, action }),
      ),
  })
}

function addPermissionEndpoint(permissions: Operations['permissions']): Endpoint {
  return endpoint({
    summary: 'Gives a role a permission',
    permission: permissions.add.permission,
    answers: ANSWERS_DONE,
    params: PERMISSION_PARAMS,
    handle: async ({ params, caller }) => {
      await permissions.add(params, caller)
      return doneAnswer('add permission ok!')
    },
  })
}

function removePermissionEndpoint(permissions: Operations['permissions']): Endpoint {
  return endpoint({
    summary: 'Takes a permission from a role',
    permission: permissions.remove.permission,
    answers: ANSWERS_DONE,
    params: PERMISSION_PARAMS,
    handle: async ({ params, caller }) => {
      await permissions.remove(params, caller)
      return doneAnswer('delete permission ok!')
    },
  })
}

const ROLE = Json.named('UserRole', Json.object({ role: Json.string(), username: Json.string() }))
const ROLE_PAGE = pageSchema('UserRolePage', ROLE)

function listRolesEndpoint(roles: Operations['roles']): Endpoint {
  return endpoint({
    summary: 'Lists the roles of users',
    permission: roles.list.permission,
    answers: answersJson(ROLE_PAGE),
    params: Type.Object({
      role: Type.Optional(fields.role),
      username: Type.Optional(fields.username),
      ...PAGE_PARAMS,
    }),
    handle: ({ params, caller }) => {
      const [role, username] = [params.role, params.username].map((text) => searchFor(text, params.search))
      return pageAnswer(roles.list({ role: role!, username: username!, page: params }, caller), (entry) => ({
        role: entry.role,
        username: entry.username,
      }))
    },
  })
}

/** `GET …/auth/roles/search`: an array of roles. */
function suggestRolesEndpoint(roles: Operations['roles']): Endpoint {
  return endpoint({
    summary: 'Lists the roles whose name contains a text',
    permission: roles.suggest.permission,
    answers: answersJson(Json.list(Json.string())),
    params: Type.Object({ role: Type.Optional(fields.role) }),
    handle: ({ params, caller }) => jsonAnswer(roles.suggest({ text: params.role ?? '' }, caller)),
  })
}

function addRoleEndpoint(roles: Operations['roles']): Endpoint {
  return endpoint({
    summary: 'Gives a user a role; ROLE_ADMIN makes an administrator',
    permission: roles.add.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ role: fields.role, username: fields.username }),
    handle: async ({ params, caller }) => {
      await roles.add(params, caller)
      return doneAnswer('add role ok!')
    },
  })
}

function removeRoleEndpoint(roles: Operations['roles']): Endpoint {
  return endpoint({
    summary: 'Takes a role from a user; without a username, deletes the role with its permissions',
    permission: roles.remove.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ role: fields.role, username: Type.Optional(fields.username) }),
    handle: async ({ params: { role, username }, caller }) => {
      await roles.remove({ role, username }, caller)
      return doneAnswer(`delete role of user ${username ?? ''} ok!`)
    },
  })
}

const USER_PAGE = pageSchema(
  'UserPage',
  Json.object({ username: Json.string(), password: Json.constant('') }),
)

/** `GET …/auth/users`: nobody sees a password or its hash. */
function listUsersEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Lists the users',
    permission: users.list.permission,
    answers: answersJson(USER_PAGE),
    params: Type.Object({ username: Type.Optional(fields.username), ...PAGE_PARAMS }),
    handle: ({ params, caller }) => {
      const username = searchFor(params.username, params.search)
      return pageAnswer(users.list({ username, page: params }, caller), (name) => ({
        username: name,
        password: '',
      }))
    },
  })
}

/** `GET …/auth/users/search`: an array of usernames. */
function suggestUsersEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Lists the usernames that contain a text',
    permission: users.suggest.permission,
    answers: answersJson(Json.list(Json.string())),
    params: Type.Object({ username: Type.Optional(fields.username) }),
    handle: ({ params, caller }) => jsonAnswer(users.suggest({ text: params.username ?? '' }, caller)),
  })
}

function createUserEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Makes a user without roles',
    permission: users.create.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.newUsername, password: fields.password }),
    handle: async ({ params, caller }) => {
      await users.create(params, caller)
      return doneAnswer('create user ok!')
    },
  })
}

/** `PUT …/auth/users`: with the old password it is for everybody's own one, without it for administrators. */
function updateUserEndpoint(users: Operations['users']): Endpoint {
  return endpoint({
    summary: 'Sets the password of a user; with oldPassword, the own one of the caller',
    permission: users.setPassword.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({
      username: fields.username,
      newPassword: fields.withDescription(fields.password, 'The password from now on.'),
      oldPassword: Type.Optional(
        fields.withDescription(
          fields.password,
          'The password until now. Users who are no administrators must send it.',
        ),
      ),
    }),
    handle: async ({ params, caller }) => {
      const { username, newPassword, oldPassword } = params
      if (oldPassword === undefined) await users.setPassword({ username, password: newPassword }, caller)
      else await users.changeOwnPassword({ username, oldPassword, newPassword }, caller)
      return doneAnswer('update user ok!')
    },
  })
}

/** `DELETE …/auth/users`. `mustExist`: an unknown user is refused. */
function removeUserEndpoint(users: Operations['users'], mustExist: boolean): Endpoint {
  return endpoint({
    summary: 'Removes a user, with its roles and sessions',
    permission: users.remove.permission,
    answers: ANSWERS_DONE,
    params: Type.Object({ username: fields.username }),
    handle: async ({ params: { username }, caller }) => {
      await users.remove({ username, mustExist }, caller)
      return doneAnswer('delete user ok!')
    },
  })
}
