import { USER } from '../../core/access/access-records.ts'
import type { State } from '../../core/engine/state.ts'
import { Refusal } from '../../core/refusal.ts'
import { bcryptCostOf } from '../../sign-in/bcrypt.ts'
import type { Passwords } from '../../sign-in/passwords.ts'

/** Dependencies of the import of password hashes. */
export interface PasswordImportParts {
  readonly state: Pick<State, 'record'>
  readonly signIn: { readonly passwords: Pick<Passwords, 'matchesBcrypt'> }
}

/** The password that a server of the interface is delivered with. */
const DELIVERED = 'nacos'

/** Throws Refusal `weak-password` for a hash that cannot be checked here, or of a password that everybody would try. */
export async function refusePassword(
  { state, signIn: { passwords } }: PasswordImportParts,
  { username, passwordHash }: { readonly username: string; readonly passwordHash: string },
): Promise<void> {
  if (bcryptCostOf(passwordHash) === undefined)
    throw weak(username, 'its hash is not bcrypt of a cost from 4 to 12')
  if (state.record(USER, username)?.passwordHash === passwordHash) return
  for (const guess of new Set([DELIVERED, username]))
    if (await passwords.matchesBcrypt(guess, passwordHash))
      throw weak(username, guess === DELIVERED ? 'its password is nacos' : 'its password is its name')
}

function weak(username: string, reason: string): Refusal {
  const message = `${username} cannot come: ${reason}. Make the user here, or give it another password there.`
  return new Refusal('weak-password', message)
}
