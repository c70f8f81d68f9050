import { randomUUID } from 'node:crypto'
import type { KnownServer } from '../../old/detect-server.ts'
import { fieldsOf, textOf } from '../../old/fields.ts'
import type { OldAccount } from '../../old/old-server.ts'
import type { ComparedFields } from '../compared-fields.ts'
import { type BothServers, Replayed } from './replayed.ts'

/** The account that signs in on each server: of one name. */
export interface BothAccounts {
  readonly old: OldAccount
  readonly new: OldAccount
}

/** Signs in with the password of the account, and with a wrong one, which 3.x refuses with 500. */
export async function replaySignIn(servers: BothServers, accounts: BothAccounts): Promise<Replayed> {
  const replayed = new Replayed('sign-in')
  const { username } = accounts.old
  await replayed.compare(username, servers, (server) =>
    signIn(server, server === servers.old ? accounts.old : accounts.new),
  )
  const wrong = { username, password: `wrong ${randomUUID()}` }
  await replayed.compare(`${username}, with a wrong password`, servers, async (server) => {
    const { token } = await signIn(server, wrong)
    return { token: token! }
  })
  return replayed
}

/** Whether a server signs the account in. */
export async function signsIn(server: KnownServer, account: OldAccount): Promise<boolean> {
  return (await signIn(server, account))['token'] === 'yes'
}

async function signIn(
  { server, kind }: KnownServer,
  { username, password }: OldAccount,
): Promise<ComparedFields> {
  const path = kind === 'java-3' ? '/v3/auth/user/login' : '/v1/auth/login'
  const form = { username, password }
  const { status, text } = await server.send({ method: 'POST', path, form, isAnonymous: true, isFinal: true })
  const { accessToken, data, globalAdmin } = fieldsOf(status === 200 ? parsed(text) : {})
  const isSignedIn = textOf(accessToken) !== '' || textOf(data) !== ''
  return {
    status: `${status}`,
    token: isSignedIn ? 'yes' : 'no',
    ...(isSignedIn && { administrator: globalAdmin === true ? 'yes' : 'no' }),
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
