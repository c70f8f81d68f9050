import { ROLE_PERMISSION, type RolePermission, USER_ROLE } from '../../core/access/access-records.ts'
import type { State } from '../../core/engine/state.ts'
import { type PasswordPair, type SignInParts, unknownUser, userOf, whoSignsIn } from './sign-in.ts'

/** A user, and the rights of the user. */
export interface UserAndRights {
  /** Empty where nobody has to sign in: then everybody may do everything. */
  readonly username: string
  readonly isAdministrator: boolean
  readonly roles: readonly string[]
  readonly permissions: readonly Pick<RolePermission, 'resource' | 'action'>[]
}

/** A user who signs in, and the ids of the sessions in the cookies of the same request. */
interface NewSession extends PasswordPair {
  readonly replaced: readonly string[]
}

/** A session that has begun. */
export interface BegunSession extends UserAndRights {
  /** The id that the browser keeps. */
  readonly browserId: string
}

const EVERYBODY: UserAndRights = { username: '', isAdministrator: true, roles: [], permissions: [] }

/** Makes the operations of browser sessions. */
export function sessionOperations({ guard, state, signIn }: SignInParts) {
  const rightsOf = (username: string): UserAndRights => {
    const roles = rolesOf(state, username)
    const permissions = permissionsOf(state, roles)
    return { username, isAdministrator: signIn.isAdministrator(username), roles, permissions }
  }
  const endAll = async (browserIds: readonly string[]): Promise<void> => {
    const { sessions } = signIn
    for (const id of browserIds.filter((one) => sessions.has(one))) await sessions.end(id)
  }
  return {
    /**
     * Checks a password and begins a session. The sessions that the browser had end: it keeps one only. Refusals
     * `unknown-user` and `sign-in-slowed`.
     */
    begin: guard.operation({
      permission: { action: 'write', resource: 'public' },
      resources: () => [],
      run: async ({ replaced, ...pair }: NewSession, { ip }): Promise<BegunSession> => {
        const user = await userOf(signIn, { ...pair, ip })
        const browserId = user === undefined ? undefined : await signIn.sessions.begin(user)
        if (user === undefined || browserId === undefined) throw unknownUser()
        await endAll(replaced)
        return { browserId, ...rightsOf(user.username) }
      },
      audit: { operation: 'sign in', as: ({ username }) => whoSignsIn(state, username) },
    }),
    /** The user who is signed in, by whatever means. */
    show: guard.operation({
      permission: { action: 'read', resource: 'own-account' },
      resources: () => [{ kind: 'own-account' }],
      run: (_: object, { identity }): UserAndRights =>
        identity.kind === 'user' ? rightsOf(identity.username) : EVERYBODY,
    }),
    /** Ends the sessions of a browser: its session ids are all that the caller needs. */
    end: guard.operation({
      permission: { action: 'write', resource: 'public' },
      audit: {
        operation: 'sign out',
        // Otherwise anybody could write events: cookies are easily made up.
        isRecorded: (browserIds) => browserIds.some((id) => signIn.sessions.has(id)),
      },
      resources: () => [],
      run: endAll,
    }),
  }
}

function rolesOf(state: Pick<State, 'records'>, username: string): string[] {
  const roles = Array.from(state.records(USER_ROLE), ([, role]) => role)
  return roles.filter((role) => role.username === username).map(({ role }) => role)
}

function permissionsOf(
  state: Pick<State, 'records'>,
  roles: readonly string[],
): UserAndRights['permissions'] {
  const permissions = Array.from(state.records(ROLE_PERMISSION), ([, permission]) => permission)
  return permissions
    .filter(({ role }) => roles.includes(role))
    .map(({ resource, action }) => ({ resource, action }))
}
