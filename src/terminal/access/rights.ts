import type { RolePermission, UserRole } from '../answers.ts'
import { type CommandResult, DiffersError, done, listed } from '../../command/command-line.ts'
import type { ClientFlags } from '../server-options.ts'
import { clientOf } from '../session-of-flags.ts'

/** The flags of `role` and `permission`. */
export interface RightsFlags extends ClientFlags {
  readonly user?: string
  readonly role?: string
}

const ROLES = '/auth/roles'
const PERMISSIONS = '/auth/permissions'

/** `role list`. */
export async function listRoles({ user: username, ...flags }: RightsFlags): Promise<CommandResult> {
  const found = await clientOf(flags).all<UserRole>(ROLES, { username })
  return listed(
    found,
    [
      ['ROLE', ({ role }) => role],
      ['USER', (one) => one.username],
    ],
    ({ role }) => role,
  )
}

/** `role add`. */
export async function addRole(
  flags: RightsFlags,
  [role, username]: readonly string[],
): Promise<CommandResult> {
  await clientOf(flags).send('POST', ROLES, { role, username })
  return done(`${username} has the role ${role}.`, { role, username })
}

/** `role remove`. */
export async function removeRole(
  flags: RightsFlags,
  [role, username]: readonly string[],
): Promise<CommandResult> {
  const client = clientOf(flags)
  const found = await client.all<UserRole>(ROLES, { username })
  if (!found.some((one) => one.role === role))
    throw new DiffersError(
      username === undefined ? `Nobody has the role ${role}.` : `${username} does not have the role ${role}.`,
    )
  await client.send('DELETE', ROLES, { role, username })
  const text =
    username === undefined ? `The role ${role} is gone.` : `${username} has the role ${role} no longer.`
  return done(text, { role, username })
}

/** `permission list`. */
export async function listPermissions({ role, ...flags }: RightsFlags): Promise<CommandResult> {
  const found = await clientOf(flags).all<RolePermission>(PERMISSIONS, { role })
  return listed(
    found,
    [
      ['ROLE', (one) => one.role],
      ['RESOURCE', ({ resource }) => resource],
      ['ACTION', ({ action }) => action],
    ],
    ({ resource }) => resource,
  )
}

const ACTIONS: Readonly<Record<string, string>> = { r: 'read', w: 'write', rw: 'read and write' }
const actionText = (action = ''): string => ACTIONS[action] ?? action

/** `permission add`. */
export async function addPermission(flags: RightsFlags, words: readonly string[]): Promise<CommandResult> {
  const [role, resource, action] = words
  await clientOf(flags).send('POST', PERMISSIONS, { role, resource, action })
  return done(`${role} may ${actionText(action)} ${resource}.`, { role, resource, action })
}

/** `permission remove`. */
export async function removePermission(flags: RightsFlags, words: readonly string[]): Promise<CommandResult> {
  const [role, resource, action] = words
  const client = clientOf(flags)
  const found = await client.all<RolePermission>(PERMISSIONS, { role })
  if (!found.some((one) => one.resource === resource && one.action === action))
    throw new DiffersError(`The role ${role} has no permission ${action} for ${resource}.`)
  await client.send('DELETE', PERMISSIONS, { role, resource, action })
  return done(`${role} may ${actionText(action)} ${resource} no longer.`, { role, resource, action })
}
