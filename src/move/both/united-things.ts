import type { PlanNote, PlanUser, PlanLine, PlanNamespace } from '../../plan/plan.ts'
import { type Access, isBcrypt } from '../checks/access-lines.ts'

/** The lines of namespaces that a database or its server has. The server is newer. */
export function* unitedNamespaces(
  ofDatabase: readonly PlanNamespace[],
  ofServer: readonly PlanNamespace[],
  kind: 'conflict' | 'remark',
): Generator<PlanLine> {
  const left = new Map(ofServer.map((space) => [space.id, space]))
  for (const space of ofDatabase) {
    const newer = left.get(space.id)
    left.delete(space.id)
    yield* newer === undefined ? onlyInDatabase(space, kind) : newerOf(space, newer, kind)
  }
  yield* left.values()
}

function onlyInDatabase(space: PlanNamespace, kind: PlanNote['kind']): PlanLine[] {
  const reason = 'the server does not list it, and may have deleted it; the plan has it'
  return [space, { kind, about: 'namespace', name: space.id, reason }]
}

/** Fields that a server does not show come from the database. */
function newerOf(space: PlanNamespace, { name, desc }: PlanNamespace, kind: PlanNote['kind']): PlanLine[] {
  const newer = { ...space, name: name || space.name, desc: desc || space.desc }
  if (newer.name === space.name && newer.desc === space.desc) return [space]
  const reason =
    'the database and the server have other names or descriptions; the plan has those of the server'
  return [newer, { kind, about: 'namespace', name: space.id, reason }]
}

/**
 * The users, roles and permissions of a database or its server, and the notes about users. The server is newer. If it
 * shows no user at all, it hides them.
 */
export function unitedAccess(
  ofDatabase: Access,
  ofServer: Access,
  kind: 'conflict' | 'remark',
): { readonly access: Access; readonly notes: readonly PlanNote[] } {
  if (ofServer.users.length === 0) return { access: ofDatabase, notes: [] }
  const { users, notes } = unitedUsers(ofDatabase.users, ofServer.users, kind)
  const roles = united([...ofDatabase.roles, ...ofServer.roles], ({ username, role }) => [username, role])
  const permissions = united(
    [...ofDatabase.permissions, ...ofServer.permissions],
    ({ role, resource, action }) => [role, resource, action],
  )
  return { access: { users, roles, permissions }, notes }
}

interface UnitedUsers {
  readonly users: readonly PlanUser[]
  readonly notes: readonly PlanNote[]
}

function unitedUsers(
  ofDatabase: readonly PlanUser[],
  ofServer: readonly PlanUser[],
  kind: PlanNote['kind'],
): UnitedUsers {
  const note = ({ username: name }: PlanUser, reason: string): PlanNote => ({
    kind,
    about: 'user',
    name,
    reason,
  })
  const left = new Map(ofServer.map((user) => [user.username, user]))
  const users: PlanUser[] = []
  const notes: PlanNote[] = []
  for (const user of ofDatabase) {
    const newer = left.get(user.username)
    left.delete(user.username)
    const hash = newer?.passwordHash ?? null
    const isOther = hash !== user.passwordHash && hash !== null && isBcrypt(hash)
    users.push(isOther ? { ...user, passwordHash: hash } : user)
    if (newer === undefined) notes.push(note(user, ONLY_IN_DATABASE))
    if (isOther) notes.push(note(user, OTHER_PASSWORDS))
  }
  return { users: [...users, ...left.values()], notes }
}

const ONLY_IN_DATABASE = 'the server does not list the user, and may have deleted it; the plan has it'
const OTHER_PASSWORDS = 'the database and the server have other passwords; the plan has that of the server'

/** Each value once. */
function united<T>(all: readonly T[], namesOf: (one: T) => readonly string[]): T[] {
  return [...new Map(all.map((one) => [JSON.stringify(namesOf(one)), one])).values()]
}
