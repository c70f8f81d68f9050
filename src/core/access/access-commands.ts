import type { Change } from '../decisions/changes.ts'
import { type Command, commandOn, synced, unchanged } from '../decisions/decision.ts'
import { recordRemoved, recordSaved } from '../records/record-kind.ts'
import type { RecordView } from '../records/record-tables.ts'
import { Refusal } from '../refusal.ts'
import {
  ADMINISTRATOR_ROLE,
  ADMINISTRATORS,
  idOf,
  IN_ALL,
  ROLE_PERMISSION,
  type RolePermission,
  SESSION,
  USER,
  type User,
  USER_ROLE,
  type UserRole,
} from './access-records.ts'
import { canonicalResource } from './resource-pattern.ts'

/** Users, roles and permissions refer to each other: their commands wait for each other. */
export const ACCESS_SUBJECT = 'access'

/** A user and the hash of a password, which `Passwords` makes. */
export interface HashedPassword {
  readonly username: string
  readonly passwordHash: string
}

/** Makes a user without roles. Refusal `user-exists`. */
export function createUser(user: HashedPassword): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    if (view.record(USER, user.username) !== undefined) throw userExists(user.username)
    return synced([userSaved(user, stamp)], undefined)
  })
}

/** Makes the user an administrator who has this password. Refusal `administrator-exists` if there is an administrator. */
export function createFirstAdministrator(user: HashedPassword): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    if (hasAdministrator(view)) throw administratorExists()
    const role = { username: user.username, role: ADMINISTRATOR_ROLE }
    return synced([userSaved(user, stamp), ...roleAdded(view, role, stamp)], undefined)
  })
}

/**
 * Sets another password: signing in with the old one does not count any longer. Refusal `user-not-found`. With a
 * `credentialStamp`, which names the password that is replaced, `unknown-user` where it has changed meanwhile.
 */
export function setPassword(user: HashedPassword, credentialStamp?: number): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    const known = requireUser(view, user.username)
    if (credentialStamp !== undefined && credentialStamp !== known.credentialStamp) throw passwordChanged()
    return synced([userSaved(user, stamp)], undefined)
  })
}

/** Replaces the hash of a password by another hash of the same password. False where the hash has changed meanwhile. */
export function replaceHash(username: string, hashes: { old: string; new: string }): Command<boolean> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    const user = view.record(USER, username)
    if (user?.passwordHash !== hashes.old) return unchanged(false)
    const value = { ...user, passwordHash: hashes.new }
    return synced([recordSaved(USER, { id: username, value, stamp })], true)
  })
}

/** The most records that one command removes: a store that several servers share takes no larger transactions. */
const MOST_REMOVED = 80
/** The most sessions that go with their user. Others have ended then, and are removed later. */
const MOST_SESSIONS = 20

/**
 * Removes a user, with its roles and sessions. Answers true if some roles are left for the next call. The user goes
 * last: a later user of the same name must not get its roles. Refusals `last-administrator`, and `user-not-found` where it must
 * exist.
 */
export function removeUser(username: string, mustExist = true): Command<boolean> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    if (!mustExist && view.record(USER, username) === undefined) return unchanged(false)
    requireUser(view, username)
    const roles = rolesWhere(view, (role) => role.username === username)
    // The administrator's role goes first, so that a refusal comes before anything is removed.
    roles.sort((a, b) => Number(isOfAdministrator(b)) - Number(isOfAdministrator(a)))
    const removed = rolesRemoved(view, roles.slice(0, MOST_REMOVED), stamp)
    if (roles.length > MOST_REMOVED) return synced(removed, true)
    const sessions = Array.from(view.records(SESSION)).filter(([, session]) => session.username === username)
    const ended = sessions.slice(0, MOST_SESSIONS).map(([id]) => recordRemoved(SESSION, id, stamp))
    return synced([recordRemoved(USER, username, stamp), ...removed, ...ended], false)
  })
}

/** Gives a user a role; one that the user has already stays. Refusal `user-not-found`. */
export function addRole(role: UserRole): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    requireUser(view, role.username)
    if (view.record(USER_ROLE, idOf(role.username, role.role)) !== undefined) return unchanged(undefined)
    return synced(roleAdded(view, role, stamp), undefined)
  })
}

/**
 * Takes a role from a user, or from all users where `username` is undefined; then its permissions go too. Answers true
 * if users or permissions are left for the next call. Permissions go first: a later role of the same name must not get
 * them. Refusal `last-administrator`.
 */
export function removeRole(role: string, username: string | undefined): Command<boolean> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    const roles = rolesWhere(
      view,
      (entry) => entry.role === role && (username === undefined || entry.username === username),
    )
    refuseLastAdministrator(view, roles)
    const permissions = username === undefined ? permissionIdsOf(view, role) : []
    const ended = permissions.slice(0, MOST_REMOVED)
    const left = roles.slice(0, MOST_REMOVED - ended.length)
    const changes = [
      ...ended.map((id) => recordRemoved(ROLE_PERMISSION, id, stamp)),
      ...rolesRemoved(view, left, stamp),
    ]
    const hasMore = permissions.length > ended.length || roles.length > left.length
    return changes.length === 0 ? unchanged(false) : synced(changes, hasMore)
  })
}

/** Gives a role a permission. Refusals `role-not-found` where nobody has the role, `invalid-parameter` for its resource. */
export function addPermission(permission: RolePermission): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    const id = permissionId(permission)
    if (rolesWhere(view, ({ role }) => role === permission.role).length === 0)
      throw roleNotFound(permission.role)
    if (view.record(ROLE_PERMISSION, id) !== undefined) return unchanged(undefined)
    return synced([recordSaved(ROLE_PERMISSION, { id, value: permission, stamp })], undefined)
  })
}

/** Takes a permission from a role, if the role has it. Refusal `invalid-parameter` for its resource. */
export function removePermission(permission: RolePermission): Command<void> {
  return commandOn(ACCESS_SUBJECT, (view, { stamp }) => {
    const id = permissionId(permission)
    if (view.record(ROLE_PERMISSION, id) === undefined) return unchanged(undefined)
    return synced([recordRemoved(ROLE_PERMISSION, id, stamp)], undefined)
  })
}

/** Whether any user is an administrator. Also true if the store lost the record of the administrators. */
export function hasAdministrator(view: RecordView): boolean {
  const counted = view.record(ADMINISTRATORS, IN_ALL)?.count ?? 0
  return counted > 0 || rolesWhere(view, isOfAdministrator).length > 0
}

function isOfAdministrator({ role }: UserRole): boolean {
  return role === ADMINISTRATOR_ROLE
}

/** The changes that give a user a role and count the administrators. */
export function roleAdded(view: RecordView, value: UserRole, stamp: number): Change[] {
  const saved = recordSaved(USER_ROLE, { id: idOf(value.username, value.role), value, stamp })
  if (!isOfAdministrator(value)) return [saved]
  return [saved, administratorsCounted(rolesWhere(view, isOfAdministrator).length + 1, stamp)]
}

/** Throws Refusal `last-administrator` where no other administrator stays. */
function rolesRemoved(view: RecordView, roles: readonly UserRole[], stamp: number): Change[] {
  const removed = roles.map(({ username, role }) => recordRemoved(USER_ROLE, idOf(username, role), stamp))
  const staying = refuseLastAdministrator(view, roles)
  return staying === undefined ? removed : [...removed, administratorsCounted(staying, stamp)]
}

/**
 * Throws Refusal `last-administrator` if no administrator stays without these roles. Returns how many stay; undefined
 * if these are not roles of administrators.
 */
function refuseLastAdministrator(view: RecordView, roles: readonly UserRole[]): number | undefined {
  const going = new Set(roles.filter(isOfAdministrator).map(({ username }) => username))
  const [first] = going
  if (first === undefined) return undefined
  const staying = rolesWhere(view, (role) => isOfAdministrator(role) && !going.has(role.username))
  if (staying.some(({ username }) => view.record(USER, username) !== undefined)) return staying.length
  throw lastAdministrator(first)
}

function administratorsCounted(count: number, stamp: number): Change {
  return recordSaved(ADMINISTRATORS, { id: IN_ALL, value: { count }, stamp })
}

function rolesWhere(view: RecordView, fits: (role: UserRole) => boolean): UserRole[] {
  return Array.from(view.records(USER_ROLE), ([, role]) => role).filter(fits)
}

function permissionIdsOf(view: RecordView, role: string): string[] {
  const permissions = Array.from(view.records(ROLE_PERMISSION))
  return permissions.filter(([, permission]) => permission.role === role).map(([id]) => id)
}

/** The change that makes a user or sets its password. */
export function userSaved({ username, passwordHash }: HashedPassword, stamp: number): Change {
  const value = { username, passwordHash, credentialStamp: stamp }
  return recordSaved(USER, { id: username, value, stamp })
}

/** The id of the record: the same for all spellings of a resource, so that a permission that is removed is gone. */
export function permissionId({ role, resource, action }: RolePermission): string {
  return idOf(role, canonicalResource(resource), action)
}

function requireUser(view: RecordView, username: string): User {
  const user = view.record(USER, username)
  if (user !== undefined) return user
  throw new Refusal('user-not-found', `There is no user ${username}.`, { names: { username } })
}

function passwordChanged(): Refusal {
  return new Refusal('unknown-user', 'The password has been changed meanwhile.')
}

function userExists(username: string): Refusal {
  return new Refusal('user-exists', `There is a user ${username} already.`, { names: { username } })
}

function administratorExists(): Refusal {
  return new Refusal('administrator-exists', 'There is an administrator already.')
}

function lastAdministrator(username: string): Refusal {
  return new Refusal('last-administrator', `${username} is the last administrator.`, { names: { username } })
}

function roleNotFound(role: string): Refusal {
  return new Refusal('role-not-found', `No user has the role ${role}.`, { names: { role } })
}
