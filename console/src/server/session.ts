import { request, requestOnce } from './request.ts'
import type { SignedInUser as User } from './answers.ts'

export type { SignedInUser as User } from './answers.ts'

const SESSION = 'svc/v1/console/session'

/** The user who is signed in. Rejects with the problem `not-signed-in`. */
export const readUser = (): Promise<User> => requestOnce('GET', SESSION, { isForAnybody: true })

/** The same for somebody who was signed in: asks to sign in again where that does not count any longer. */
export const readUserAgain = (): Promise<User> => request('GET', SESSION)

/** Signs in. */
export const signIn = (username: string, password: string): Promise<User> =>
  requestOnce('POST', SESSION, { form: { username, password }, isForAnybody: true })

/** Whether callers must sign in, and there is no administrator yet. */
export async function lacksAdministrator(): Promise<boolean> {
  const state = await requestOnce<{ auth_admin_request: string }>('GET', 'nacos/v1/console/server/state', {
    isForAnybody: true,
  })
  return state.auth_admin_request === 'true'
}

/** Signs out. */
export const signOut = (): Promise<object> => request('DELETE', SESSION)

/** Makes the first administrator, with the code that the server has printed; its name, and its password where none was given. */
export const makeFirstAdministrator = (
  code: string,
  password: string,
): Promise<{ username: string; password: string }> =>
  requestOnce('POST', 'svc/v1/auth/users/admin', { form: { code, password }, isForAnybody: true })

/** Changes the own password. It ends all sessions of the user. */
export const changeOwnPassword = (sent: {
  username: string
  oldPassword: string
  newPassword: string
}): Promise<object> => request('PUT', 'svc/v1/auth/users', { form: sent })
