import { roleItem } from '../../core/audit/audited-item.ts'
import { addRole, removeRole } from '../../core/access/access-commands.ts'
import { USER_ROLE, type UserRole } from '../../core/access/access-records.ts'
import { type FoundPage, foundPage, nameFilter, type NameSearch, namesWith } from '../name-search.ts'
import type { PageRequest } from '../page.ts'
import { accessResource, type AccessParts, READ_ACCESS, WRITE_ACCESS } from './users.ts'

/** Which roles of users are looked for. */
export interface RoleSearch {
  readonly role: NameSearch
  readonly username: NameSearch
  readonly page: PageRequest
}

/** A role that is taken from a user, or from all users where `username` is undefined. */
export interface RoleRemoval {
  readonly role: string
  readonly username: string | undefined
}

/** Makes the operations on the roles of users. */
export function roleOperations({ guard, state, engine }: AccessParts) {
  const all = () => Array.from(state.records(USER_ROLE), ([, userRole]) => userRole)
  return {
    /** A page of the roles that users have, in the order in which they were given. */
    list: guard.operation({
      permission: READ_ACCESS,
      resources: accessResource,
      run: ({ role, username, page }: RoleSearch): FoundPage<UserRole> => {
        const [hasRole, isOfUser] = [nameFilter(role), nameFilter(username)]
        return foundPage(
          all().filter((one) => hasRole(one.role) && isOfUser(one.username)),
          page,
        )
      },
    }),
    /** The roles whose name contains a text. */
    suggest: guard.operation({
      permission: READ_ACCESS,
      resources: accessResource,
      run: ({ text }: { text: string }) =>
        namesWith(
          all().map(({ role }) => role),
          text,
        ),
    }),
    /** Gives a user a role, also the administrators' role. Refusal `user-not-found`. */
    add: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'add role', item: roleItem },
      resources: accessResource,
      run: (userRole: UserRole) => engine.execute(addRole(userRole)),
    }),
    /** Takes a role from a user, or deletes it with its permissions. Refusal `last-administrator`. */
    remove: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'remove role', item: roleItem },
      resources: accessResource,
      run: async ({ role, username }: RoleRemoval): Promise<void> => {
        while (await engine.execute(removeRole(role, username)));
      },
    }),
  }
}
