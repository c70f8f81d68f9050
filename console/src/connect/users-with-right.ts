import {
  addPermission,
  addRole,
  ADMINISTRATOR_ROLE,
  allPermissions,
  allRoles,
  createUser,
} from '../server/access.ts'
import { allows, type Given } from '../state/rights.ts'
import type { Connected } from './snippets.ts'

/** The namespace, and the item or the service, that an application needs. */
export type Needed = Pick<Connected, 'namespaceId' | 'about'>

/** The name in the code while the user is not known yet. */
export const NO_USER_YET = 'YOUR-APP-USER'

/** The users that may do what the code does, by their names. Administrators are left out: no application needs all rights. */
export async function usersWithRight(needed: Needed): Promise<string[]> {
  const [roles, permissions] = await Promise.all([allRoles(), allPermissions()])
  const names = new Set(roles.map(({ username }) => username))
  return [...names].toSorted().filter((name) => {
    const own = roles.filter(({ username }) => username === name).map(({ role }) => role)
    const given = permissions.filter(({ role }) => own.includes(role))
    return !own.includes(ADMINISTRATOR_ROLE) && mayAll(given, needed)
  })
}

/** Whether permissions allow all that the code does: a program that registers an instance writes the service, too. */
export function mayAll(given: readonly Given[], needed: Needed): boolean {
  const actions = needed.about.kind === 'config' ? (['r'] as const) : (['r', 'w'] as const)
  return actions.every((action) => allows(given, { ...wantedOf(needed), action }))
}

/** Makes a user that may do what the code does, and nothing else. */
export async function makeUserFor(
  needed: Needed,
  { username, password }: { readonly username: string; readonly password: string },
): Promise<void> {
  const role = `${username}-role`
  await createUser(username, password)
  await addRole({ role, username })
  await addPermission({ role, ...permissionFor(needed) })
}

/** The permission that the code needs. */
export function permissionFor(needed: Needed): { readonly resource: string; readonly action: 'r' | 'rw' } {
  const { namespaceId, kind, group, name } = wantedOf(needed)
  return {
    resource: `${namespaceId || 'public'}:${group}:${kind}/${name}`,
    action: kind === 'config' ? 'r' : 'rw',
  }
}

function wantedOf({ namespaceId, about }: Needed) {
  return about.kind === 'config'
    ? ({ kind: 'config', namespaceId, group: about.group, name: about.dataId } as const)
    : ({ kind: 'naming', namespaceId, group: about.group, name: about.name } as const)
}
