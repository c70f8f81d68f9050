import { addPermission, removePermission } from '../../core/access/access-commands.ts'
import { ROLE_PERMISSION, type RolePermission } from '../../core/access/access-records.ts'
import { type FoundPage, foundPage, nameFilter, type NameSearch } from '../name-search.ts'
import type { PageRequest } from '../page.ts'
import { accessResource, type AccessParts, READ_ACCESS, WRITE_ACCESS } from './users.ts'

/** Makes the operations on the permissions of roles. */
export function permissionOperations({ guard, state, engine }: AccessParts) {
  const all = () => Array.from(state.records(ROLE_PERMISSION), ([, permission]) => permission)
  return {
    /** A page of permissions, in the order in which they were given. */
    list: guard.operation({
      permission: READ_ACCESS,
      resources: accessResource,
      run: ({ role, page }: { role: NameSearch; page: PageRequest }): FoundPage<RolePermission> => {
        const hasRole = nameFilter(role)
        return foundPage(
          all().filter((permission) => hasRole(permission.role)),
          page,
        )
      },
    }),
    /** Gives a role a permission. Refusals `role-not-found`, and `invalid-parameter` for the resource. */
    add: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'add permission', item: namedIn },
      resources: accessResource,
      run: (permission: RolePermission) => engine.execute(addPermission(permission)),
    }),
    /** Takes a permission from a role. Refusal `invalid-parameter` for the resource. */
    remove: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'remove permission', item: namedIn },
      resources: accessResource,
      run: (permission: RolePermission) => engine.execute(removePermission(permission)),
    }),
  }
}

/** How the audit names a permission. */
function namedIn({ role, resource, action }: RolePermission): string {
  return `${action} ${resource} of role ${role}`
}
