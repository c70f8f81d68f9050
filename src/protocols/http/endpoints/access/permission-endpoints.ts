import type { Operations } from '../../../../operations/operations.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { ANSWERS_DONE, doneAnswer, PAGE_PARAMS, pageAnswer, searchFor } from './page-params.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { pageSchema } from '../config/page-json.ts'

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

/** `GET …/auth/permissions`. */
export function listPermissionsEndpoint(permissions: Operations['permissions']): Endpoint {
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

/** `POST …/auth/permissions`. */
export function addPermissionEndpoint(permissions: Operations['permissions']): Endpoint {
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

/** `DELETE …/auth/permissions`. */
export function removePermissionEndpoint(permissions: Operations['permissions']): Endpoint {
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
