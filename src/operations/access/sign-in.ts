import { userItem } from '../../core/audit/audited-item.ts'
import { createFirstAdministrator, hasAdministrator } from '../../core/access/access-commands.ts'
import { USER, type User } from '../../core/access/access-records.ts'
import { rotateKeys } from '../../core/access/signing-key-commands.ts'
import { NO_USER } from '../../core/audit/audit-event.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { FirstCode } from '../../sign-in/first-code.ts'
import type { PasswordAttempt, PasswordSignIn } from '../../sign-in/password-sign-in.ts'
import { randomPassword, type Passwords } from '../../sign-in/passwords.ts'
import type { Sessions } from '../../sign-in/sessions.ts'
import { newSigningKey } from '../../sign-in/signing-keys.ts'
import type { Tokens } from '../../sign-in/tokens.ts'
import type { Guard } from '../guard.ts'
import type { Who } from '../operation-audit.ts'

/** Dependencies of the operations of signing in. */
export interface SignInParts {
  readonly guard: Guard
  readonly state: Pick<State, 'record' | 'records'>
  readonly engine: Pick<Engine, 'execute'>
  readonly signIn: {
    readonly passwords: Passwords
    readonly byPassword: PasswordSignIn
    readonly tokens: Tokens
    readonly sessions: Sessions
    readonly firstCode: FirstCode
    readonly isAdministrator: (username: string) => boolean
    /** Whether signing in is optional. Then a wrong pair gets a token of no user: some clients need a token to start. */
    readonly isOptional: boolean
  }
}

/** A user who has signed in, and the token to show from now on. */
export interface SignedInUser {
  readonly username: string
  readonly token: string
  readonly ttlSeconds: number
  readonly isAdministrator: boolean
  /** False for a token of no user. */
  readonly isUser: boolean
}

/** A username and a password. */
export interface PasswordPair {
  readonly username: string
  readonly password: string
}

/** The first administrator to create. Without a password, a random one is made. */
export interface FirstAdministratorRequest {
  readonly code: string
  readonly password: string | undefined
}

/** The key that signs now, and how long the ones before it still verify. */
export interface KeyRotation {
  readonly keyId: string
  readonly oldKeySeconds: number
}

/** The name of the first administrator (http-compat.md section 7). */
const FIRST_ADMINISTRATOR = 'nacos'

const PUBLIC = { action: 'write', resource: 'public' } as const

/** Makes the operations of signing in: they are open to everybody, and slow for clients that guess. */
export function signInOperations({ guard, state, engine, signIn }: SignInParts) {
  return {
    /** Checks a password and issues a token. Refusals `unknown-user` and `sign-in-slowed`. */
    login: guard.operation({
      permission: PUBLIC,
      resources: () => [],
      run: async (pair: PasswordPair, { ip }): Promise<SignedInUser> => {
        const user = await userOf(signIn, { ...pair, ip })
        if (user === undefined && signIn.isOptional) return nobody(signIn, pair.username)
        if (user === undefined) throw unknownUser()
        const { username } = user
        const issued = await signIn.tokens.issue(user)
        return { username, ...issued, isAdministrator: signIn.isAdministrator(username), isUser: true }
      },
      audit: {
        operation: 'sign in',
        as: ({ username }) => whoSignsIn(state, username),
        cameTo: ({ isUser }) => (isUser ? { result: 'done' } : { result: 'refused', code: 'unknown-user' }),
      },
    }),
    /** Makes the first administrator. Refusals `administrator-exists`, `wrong-code` and `sign-in-slowed`. */
    firstAdministrator: guard.operation({
      permission: PUBLIC,
      audit: {
        operation: 'create first administrator',
        item: () => userItem({ username: FIRST_ADMINISTRATOR }),
      },
      resources: () => [],
      run: async (request: FirstAdministratorRequest, { ip }): Promise<PasswordPair> => {
        if (hasAdministrator(state))
          throw new Refusal('administrator-exists', 'There is an administrator already.')
        const attempt = { username: FIRST_ADMINISTRATOR, ip }
        const isRight = await signIn.byPassword.guarded(attempt, () => signIn.firstCode.is(request.code))
        if (!isRight) throw wrongCode()
        const password = request.password ?? randomPassword()
        const pair = { username: FIRST_ADMINISTRATOR, password }
        const passwordHash = await signIn.passwords.hashNew(pair)
        await engine.execute(createFirstAdministrator({ username: FIRST_ADMINISTRATOR, passwordHash }))
        return pair
      },
    }),
    ...tokenOperations({ guard, state, engine, signIn }),
  }
}

/** The operations on tokens and the keys that sign them. */
function tokenOperations({ guard, engine, signIn }: SignInParts) {
  return {
    /**
     * Issues another token for the user of a valid token, for 12 hours after the sign-in with a password. Refusals
     * `malformed-request` for a caller without a token, and `token-expired`.
     */
    renew: guard.operation({
      permission: { action: 'write', resource: 'own-account' },
      audit: { operation: 'renew token' },
      resources: () => [{ kind: 'own-account' }],
      run: async (_: object, { identity }): Promise<SignedInUser> => {
        if (identity.kind !== 'user' || identity.by !== 'token')
          throw new Refusal(
            'malformed-request',
            'Only an access token can be renewed, and this request has none.',
          )
        const { username } = identity
        const issued = await signIn.tokens.renew(identity)
        if (issued === undefined)
          throw new Refusal('token-expired', 'The sign-in is too long ago: sign in with the password again.')
        return { username, ...issued, isAdministrator: signIn.isAdministrator(username), isUser: true }
      },
    }),
    /**
     * Signs tokens with a new key from now on. The old one verifies until its last token has expired; where it has
     * leaked, it ends at once, and everybody has to sign in again.
     */
    rotateKeys: guard.operation({
      permission: { action: 'write', resource: 'access' },
      audit: { operation: 'rotate keys' },
      resources: () => [{ kind: 'access' }],
      run: async ({ hasLeaked }: { hasLeaked: boolean }): Promise<KeyRotation> => {
        const key = newSigningKey()
        const { ttlSeconds } = signIn.tokens
        const oldKeySeconds = hasLeaked ? 0 : ttlSeconds
        await engine.execute(rotateKeys(key, hasLeaked ? 'leaked' : { ttlMs: ttlSeconds * 1_000 }))
        return { keyId: key.id, oldKeySeconds }
      },
    }),
  }
}

/**
 * The user that the audit names. People type passwords into the field for the name, so only names of users
 * are recorded.
 */
export function whoSignsIn(state: Pick<State, 'record'>, username: string): Who {
  return { username: state.record(USER, username)?.username ?? NO_USER, by: 'password' }
}

/** The user of this pair; undefined for a wrong pair. Refusal `sign-in-slowed`, if signing in is required. */
export async function userOf(
  { byPassword, isOptional }: SignInParts['signIn'],
  attempt: PasswordAttempt,
): Promise<User | undefined> {
  try {
    return await byPassword.check(attempt)
  } catch (error) {
    if (isOptional && error instanceof Refusal) return undefined
    throw error
  }
}

function nobody({ tokens }: SignInParts['signIn'], username: string): SignedInUser {
  const token = randomPassword()
  return { username, token, ttlSeconds: tokens.ttlSeconds, isAdministrator: false, isUser: false }
}

/** The refusal of every failed sign-in, without the reason. */
export function unknownUser(): Refusal {
  return new Refusal('unknown-user', 'No user has this name and password.')
}

function wrongCode(): Refusal {
  return new Refusal('wrong-code', 'This is not the one-time code that the server printed when it started.', {
    parameter: 'code',
  })
}
