import type { PermissionOperations } from '../../../../operations/permissions.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { doneAnswer, PAGE_PARAMS, pageAnswer, searchFor } from './page-params.ts'

const PERMISSION_PARAMS = Type.Object({
  role: fields.role,
  resource: fields.resource,
  action: Type.Enum(['r', 'w', 'rw'], { description: 'To read, to write, or both.' }),
})

/** `GET …/auth/permissions`. */
export function listPermissionsEndpoint({ list }: PermissionOperations): Endpoint {
  return endpoint({
    summary: 'Lists the permissions of roles',
    permission: list.permission,
    params: Type.Object({ role: Type.Optional(fields.role), ...PAGE_PARAMS }),
    handle: ({ params, caller }) =>
      pageAnswer(
        list({ role: searchFor(params.role, params.search), page: params }, caller),
        ({ role, resource, action }) => ({ role, resource, action }),
      ),
  })
}

/** `POST …/auth/permissions`. */
export function addPermissionEndpoint({ add }: PermissionOperations): Endpoint {
  return endpoint({
    summary: 'Gives a role a permission',
    permission: add.permission,
    params: PERMISSION_PARAMS,
    handle: async ({ params, caller }) => {
      await add(params, caller)
      return doneAnswer('add permission ok!')
    },
  })
}

/** `DELETE …/auth/permissions`. */
export function removePermissionEndpoint({ remove }: PermissionOperations): Endpoint {
  return endpoint({
    summary: 'Takes a permission from a role',
    permission: remove.permission,
    params: PERMISSION_PARAMS,
    handle: async ({ params, caller }) => {
      await remove(params, caller)
      return doneAnswer('delete permission ok!')
    },
  })
}
