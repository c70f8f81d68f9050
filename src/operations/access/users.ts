import { userItem } from '../../core/audit/audited-item.ts'
import { createUser, removeUser, setPassword } from '../../core/access/access-commands.ts'
import { USER } from '../../core/access/access-records.ts'
import type { Engine } from '../../core/engine/ports.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard, Resource } from '../guard.ts'
import type { Caller } from '../authorisation.ts'
import { type FoundPage, foundPage, nameFilter, type NameSearch, namesWith } from '../name-search.ts'
import type { PageRequest } from '../page.ts'
import type { PasswordPair, SignInParts } from './sign-in.ts'

/** Dependencies of the operations on users, roles and permissions. */
export interface AccessParts {
  readonly guard: Guard
  readonly state: Pick<State, 'record' | 'records'>
  readonly engine: Pick<Engine, 'execute'>
}

interface UserParts extends AccessParts {
  readonly signIn: Pick<SignInParts['signIn'], 'passwords' | 'byPassword'>
}

/** To look at users, roles and permissions: for administrators. */
export const READ_ACCESS = { action: 'read', resource: 'access' } as const
/** To change users, roles and permissions: for administrators. */
export const WRITE_ACCESS = { action: 'write', resource: 'access' } as const

/** The resource of all operations on users, roles and permissions. */
export function accessResource(): readonly Resource[] {
  return [{ kind: 'access' }]
}

/** A user who gives itself another password. */
export interface OwnPasswordChange {
  readonly username: string
  readonly oldPassword: string
  readonly newPassword: string
}

/** Makes the operations on users. Passwords are hashed before they reach the store. */
export function userOperations(parts: UserParts) {
  const { guard, state, engine, signIn } = parts
  const names = () => Array.from(state.records(USER), ([username]) => username)
  return {
    /** A page of usernames, in the order in which they were made. */
    list: guard.operation({
      permission: READ_ACCESS,
      resources: accessResource,
      run: ({ username, page }: { username: NameSearch; page: PageRequest }): FoundPage<string> =>
        foundPage(names().filter(nameFilter(username)), page),
    }),
    /** The usernames that contain a text. */
    suggest: guard.operation({
      permission: READ_ACCESS,
      resources: accessResource,
      run: ({ text }: { text: string }) => namesWith(names(), text),
    }),
    /** Makes a user without roles. Refusal `user-exists`. */
    create: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'create user', item: userItem },
      resources: accessResource,
      run: async (pair: PasswordPair): Promise<void> =>
        engine.execute(
          createUser({ username: pair.username, passwordHash: await signIn.passwords.hashNew(pair) }),
        ),
    }),
    /** Removes a user. Refusals `last-administrator`, and `user-not-found` where it must exist. */
    remove: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'remove user', item: userItem },
      resources: accessResource,
      run: async ({ username, mustExist }: { username: string; mustExist: boolean }): Promise<void> => {
        while (await engine.execute(removeUser(username, mustExist)));
      },
    }),
    ...passwordOperations(parts),
  }
}

function passwordOperations({ guard, engine, signIn }: UserParts) {
  const savePassword = async (pair: PasswordPair, replaced?: number): Promise<void> => {
    const passwordHash = await signIn.passwords.hashNew(pair)
    await engine.execute(setPassword({ username: pair.username, passwordHash }, replaced))
  }
  return {
    /** Gives any user another password. Refusal `user-not-found`. */
    setPassword: guard.operation({
      permission: WRITE_ACCESS,
      audit: { operation: 'set password', item: userItem },
      resources: accessResource,
      run: (pair: PasswordPair) => savePassword(pair),
    }),
    /** Gives the caller itself another password. Refusals `unknown-user` for a wrong old one, and `sign-in-slowed`. */
    changeOwnPassword: guard.operation({
      permission: { action: 'write', resource: 'own-account' },
      audit: { operation: 'change own password', item: userItem },
      resources: (_change: OwnPasswordChange) => [{ kind: 'own-account' }],
      run: async ({ username, oldPassword, newPassword }: OwnPasswordChange, caller): Promise<void> => {
        requireSelf(caller, username)
        const user = await signIn.byPassword.check({ username, password: oldPassword, ip: caller.ip })
        if (user === undefined) throw new Refusal('unknown-user', 'The old password is wrong.')
        await savePassword({ username, password: newPassword }, user.credentialStamp)
      },
    }),
  }
}

/** A caller who is signed in may use its own old password only. */
function requireSelf(caller: Caller, username: string): void {
  const { identity } = caller
  if (identity.kind !== 'user' || identity.username === username) return
  const message = `oldPassword is for the own password, and ${identity.username} is signed in. Administrators leave it out.`
  throw new Refusal('forbidden', message)
}
