import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { ANSWERS_DONE, doneAnswer, PAGE_PARAMS, pageAnswer, searchFor } from './page-params.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { pageSchema } from '../config/page-json.ts'

const ROLE = Json.named('UserRole', Json.object({ role: Json.string(), username: Json.string() }))
const ROLE_PAGE = pageSchema('UserRolePage', ROLE)

/** `GET …/auth/roles`. */
export function listRolesEndpoint(roles: Operations['roles']): Endpoint {
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
export function suggestRolesEndpoint(roles: Operations['roles']): Endpoint {
  return endpoint({
    summary: 'Lists the roles whose name contains a text',
    permission: roles.suggest.permission,
    answers: answersJson(Json.list(Json.string())),
    params: Type.Object({ role: Type.Optional(fields.role) }),
    handle: ({ params, caller }) => jsonAnswer(roles.suggest({ text: params.role ?? '' }, caller)),
  })
}

/** `POST …/auth/roles`. */
export function addRoleEndpoint(roles: Operations['roles']): Endpoint {
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

/** `DELETE …/auth/roles`. */
export function removeRoleEndpoint(roles: Operations['roles']): Endpoint {
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
