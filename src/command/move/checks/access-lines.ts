import {
  ADMINISTRATOR_ROLE,
  type PlanLine,
  type PlanNote,
  type PlanPermission,
  type PlanRole,
  type PlanUser,
} from '../../../move/plan.ts'
import { missedNote } from '../notes.ts'
import type { PlanReading } from '../reading.ts'

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

/** The lines of users, roles and permissions. Only the names in `administrators` become administrators here. */
export function* accessLines(
  access: Access,
  administrators: PlanReading['administrators'],
): Generator<PlanLine> {
  for (const user of access.users) yield* userLines(user)
  for (const role of access.roles) yield roleLine(role, administrators)
  const names = new Set(access.users.map(({ username }) => username))
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

function whyNoHash({ username, passwordHash }: PlanUser): string | undefined {
  if (username.startsWith(SHADOW)) return 'it is a user of LDAP, whose hash is the same for all'
  if (passwordHash === null) return 'the source does not show its hash'
  if (passwordHash === PUBLISHED) return 'it is nacos, of the installation file'
  const cost = BCRYPT.exec(passwordHash)?.[1]
  if (cost === undefined) return 'its hash is no bcrypt'
  return Number(cost) > MOST_COST ? `the cost of its hash is ${cost}, above ${MOST_COST}` : undefined
}

function roleLine(role: PlanRole, administrators: PlanReading['administrators']): PlanLine {
  if (role.role !== ADMINISTRATOR_ROLE || administrators.has(role.username)) return role
  const reason = 'an administrator there is one here only if --administrators names the user'
  return { kind: 'cannot-come', about: 'role', name: `${role.username} ${role.role}`, reason }
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
