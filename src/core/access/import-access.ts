import type { Change } from '../decisions/changes.ts'
import { type Command, storing, synced, unchanged } from '../decisions/decision.ts'
import { HERE_ALREADY, type ImportOutcome, keeping, TAKEN } from '../decisions/import-outcome.ts'
import type { RecordView } from '../records/record-tables.ts'
import { Refusal } from '../refusal.ts'
import {
  ACCESS_SUBJECT,
  addPermission,
  addRole,
  type HashedPassword,
  permissionId,
  roleAdded,
  userSaved,
} from './access-commands.ts'
import {
  ADMINISTRATOR_ROLE,
  idOf,
  isImportedHash,
  ROLE_PERMISSION,
  type RolePermission,
  USER,
  USER_ROLE,
  type UserRole,
} from './access-records.ts'

/** A user elsewhere, with the hash of its password there. */
export interface ImportedUser extends HashedPassword {
  readonly isAdministrator: boolean
}

/**
 * Imports a user. An import replaces the hash of an earlier import, as long as the user has not signed in here. With
 * `overwrite` it replaces any hash. An administrator of this server keeps the hash unless the import names the user as
 * an administrator. The reason: a user of the same name elsewhere may be anybody.
 */
export function importUser(user: ImportedUser, overwrite: boolean): Command<ImportOutcome> {
  return storing(ACCESS_SUBJECT, 0, (view, { stamp }) => {
    const known = view.record(USER, user.username)
    const isNewHash = known?.passwordHash !== user.passwordHash
    const isOwn = known !== undefined && !isImportedHash(known.passwordHash)
    if (isNewHash && isOwn && !overwrite) return keeping('the user has a password of this server')
    if (isNewHash && isOwn && !user.isAdministrator && isAdministratorHere(view, user.username))
      return keeping('the user is an administrator here: name it with administrators to replace its password')
    const changes: Change[] = [
      ...(isNewHash ? [userSaved(user, stamp)] : []),
      ...(user.isAdministrator ? administratorAdded(view, user.username, stamp) : []),
    ]
    return changes.length === 0 ? unchanged(HERE_ALREADY) : synced(changes, TAKEN)
  })
}

/** Imports the role of a user. `isAdministrator`: it may be the administrators' role. Refusal `user-not-found`. */
export function importRole(role: UserRole, isAdministrator: boolean): Command<ImportOutcome> {
  const add = addRole(role)
  return storing(ACCESS_SUBJECT, 0, (view, now) => {
    if (view.record(USER_ROLE, idOf(role.username, role.role)) !== undefined) return unchanged(HERE_ALREADY)
    if (role.role === ADMINISTRATOR_ROLE && !isAdministrator) throw noAdministrator(role.username)
    return synced(add.decide(view, now).changes, TAKEN)
  })
}

/** Imports a permission of a role. Refuses as `addPermission` does. */
export function importPermission(permission: RolePermission): Command<ImportOutcome> {
  const add = addPermission(permission)
  return storing(ACCESS_SUBJECT, 0, (view, now) => {
    if (view.record(ROLE_PERMISSION, permissionId(permission)) !== undefined) return unchanged(HERE_ALREADY)
    return synced(add.decide(view, now).changes, TAKEN)
  })
}

function isAdministratorHere(view: RecordView, username: string): boolean {
  return view.record(USER_ROLE, idOf(username, ADMINISTRATOR_ROLE)) !== undefined
}

function administratorAdded(view: RecordView, username: string, stamp: number): Change[] {
  return isAdministratorHere(view, username)
    ? []
    : roleAdded(view, { username, role: ADMINISTRATOR_ROLE }, stamp)
}

function noAdministrator(username: string): Refusal {
  const message = `${username} does not become an administrator by a plan: name it with administrators.`
  return new Refusal('forbidden', message)
}
