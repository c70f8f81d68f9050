import { passwordFrom } from '../move-passwords.ts'
import { openServers, rateOf } from '../old/open-servers.ts'
import type { BackTarget } from './write-back.ts'

/** How the server of `--to` is asked. */
export interface TargetFlags {
  readonly to?: string
  readonly rate: string
}

/** The server of `--to` if it is of another kind, whose interface gets the plan. Undefined for a Waypost or a context. */
export async function backTargetOf(
  { to, rate }: TargetFlags,
  username: string | undefined,
): Promise<BackTarget | undefined> {
  if (to === undefined) return undefined
  const [found] = await openServers([to], rateOf(rate), undefined)
  const { kind, server } = found!
  if (kind === 'waypost') return undefined
  if (username === undefined) return { ...found!, kind }
  const account = { username, password: await passwordFrom('WAYPOST_PASSWORD', username) }
  const [signedIn] = await openServers([server.url], rateOf(rate), account)
  return { ...signedIn!, kind }
}
