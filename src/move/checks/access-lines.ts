import {
  ADMINISTRATOR_ROLE,
  type PlanLine,
  type PlanNote,
  type PlanPermission,
  type PlanRole,
  type PlanUser,
} from '../../plan/plan.ts'
import { type Administrators, unknownAmong, missedNote } from '../reading.ts'

/** Users, roles and permissions of a source. */
export interface Access {
  readonly users: readonly PlanUser[]
  readonly roles: readonly PlanRole[]
  readonly permissions: readonly PlanPermission[]
}

const ACTIONS: readonly string[] = ['r', 'w', 'rw']
/** Users of a directory have rows with one fixed hash. */
const SHADOW = 'LDAP_'
/** The hash of the password `nacos` in old installation files. */
const PUBLISHED = '$2a$10$EuWPZHzz32dJN7jexM34MOeYirDdFAZm2kuWj7VEOJhhZkDrxfvUu'
const BCRYPT = /^\$2[aby]\$(\d\d)\$[./A-Za-z0-9]{53}$/
const MOST_COST = 12

/** The lines of users, roles and permissions. A name among `administrators` that no user has is missed. */
export function* accessLines(access: Access, administrators: Administrators): Generator<PlanLine> {
  const names = new Set(access.users.map(({ username }) => username))
  for (const user of access.users) yield* userLines(user)
  for (const role of access.roles) yield roleLine(role, administrators)
  yield* newAdministrators({ roles: access.roles, names }, administrators)
  for (const { username, role } of access.roles)
    if (!names.has(username))
      yield remark('role', `${username} ${role}`, 'the source has no user of this name')
  const roles = new Set(access.roles.map(({ role }) => role))
  for (const permission of access.permissions) yield* permissionLines(permission, roles)
}

function userLines(user: PlanUser): PlanLine[] {
  const why = whyNoHash(user)
  if (why === undefined) return [user]
  const reason = `the password does not come: ${why}; make the user on the new server`
  return [{ ...user, passwordHash: null }, remark('user', user.username, reason)]
}

/** Whether a hash is a real one: some servers show stars instead. */
export function isBcrypt(hash: string): boolean {
  return BCRYPT.test(hash)
}

function whyNoHash({ username, passwordHash }: PlanUser): string | undefined {
  if (username.startsWith(SHADOW)) return 'it is a user of LDAP, whose hash is the same for all'
  if (passwordHash === null) return 'the source does not show its hash'
  if (passwordHash === PUBLISHED) return 'it is nacos, of the installation file'
  const cost = BCRYPT.exec(passwordHash)?.[1]
  if (cost === undefined) return 'its hash is no bcrypt'
  return Number(cost) > MOST_COST ? `the cost of its hash is ${cost}, above ${MOST_COST}` : undefined
}

function roleLine(role: PlanRole, administrators: Administrators): PlanLine {
  if (role.role !== ADMINISTRATOR_ROLE || administrators === 'as-there') return role
  if (administrators.has(role.username)) return role
  const reason = 'an administrator there is one here only if --administrators names the user'
  return { kind: 'cannot-come', about: 'role', name: `${role.username} ${role.role}`, reason }
}

/** A user who is named may have been no administrator there, or no user at all. */
function newAdministrators(
  { roles, names }: Pick<Access, 'roles'> & { readonly names: ReadonlySet<string> },
  administrators: Administrators,
): PlanLine[] {
  if (administrators === 'as-there') return []
  const before = roles.filter(({ role }) => role === ADMINISTRATOR_ROLE).map(({ username }) => username)
  const unknown = unknownAmong(administrators, new Set([...names, ...before]))
  const added = [...administrators].filter((name) => !before.includes(name) && !unknown.includes(name))
  return [
    ...added.map((username): PlanRole => ({ kind: 'role', username, role: ADMINISTRATOR_ROLE })),
    ...unknown.map(unknownAdministrator),
  ]
}

/** The line about a name of `--administrators` that no user of the source has, as far as it shows them. */
export function unknownAdministrator(name: string): PlanNote {
  return missedNote(
    'role',
    `${name} ${ADMINISTRATOR_ROLE}`,
    '--administrators names the user, but the source does not have or show one of this name',
  )
}

function permissionLines(permission: PlanPermission, roles: ReadonlySet<string>): PlanLine[] {
  const name = `${permission.role} ${permission.resource} ${permission.action}`
  const no = (reason: string): PlanNote => ({ kind: 'cannot-come', about: 'permission', name, reason })
  if (!ACTIONS.includes(permission.action))
    return [missedNote('permission', name, 'its action is not r, w or rw')]
  if (permission.resource.startsWith('console/'))
    return [no('it is for pages of the console there, which are others here')]
  if (roles.has(permission.role)) return [permission]
  return [permission, remark('permission', name, 'no user has this role')]
}

function remark(about: string, name: string, reason: string): PlanNote {
  return { kind: 'remark', about, name, reason }
}
