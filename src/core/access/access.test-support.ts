import { at, carryOut } from '../core.test-support.ts'
import type { State } from '../engine/state.ts'
import { addPermission, addRole, createUser } from './access-commands.ts'
import { ADMINISTRATOR_ROLE, type RolePermission } from './access-records.ts'

/** A resource and the allowed actions on it. */
export type Allowed = readonly [resource: string, action: RolePermission['action']]

/** Makes a user with the role `<username>s` and these permissions of it. */
export function addUser(state: State, username: string, permissions: readonly Allowed[] = []): void {
  const role = `${username}s`
  carryOut(state, createUser({ username, passwordHash: `hash of ${username}` }), at(0))
  carryOut(state, addRole({ username, role }), at(0))
  for (const [resource, action] of permissions)
    carryOut(state, addPermission({ role, resource, action }), at(0))
}

/** Makes a user who is an administrator. */
export function addAdministrator(state: State, username: string): void {
  carryOut(state, createUser({ username, passwordHash: `hash of ${username}` }), at(0))
  carryOut(state, addRole({ username, role: ADMINISTRATOR_ROLE }), at(0))
}
