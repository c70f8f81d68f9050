import { isLoopback } from '../../core/text/ip-address.ts'
import type { Settings } from '../../settings/settings.ts'

/** Whether callers must sign in. `report`: they need not, but requests that would be refused are logged. */
export type AuthenticationMode = 'on' | 'off' | 'report'

/** Whether callers must sign in to this server: once the store has an administrator, unless `auth` says otherwise. */
export function authenticationMode(
  { auth }: Pick<Settings, 'auth'>,
  hasAdministrator: boolean,
): AuthenticationMode {
  if (auth !== 'auto') return auth
  return hasAdministrator ? 'on' : 'off'
}

/** Throws an Error if a server without authentication would listen on a network without permission. */
export function refuseOpenServer(
  mode: AuthenticationMode,
  { host, openToEveryone }: Pick<Settings, 'host' | 'openToEveryone'>,
): void {
  if (mode !== 'off' || openToEveryone || isLoopbackHost(host)) return
  throw new Error(
    `authentication is off, and ${host} is not an address of this machine alone: everybody who reaches it could ` +
      'change everything. Turn authentication on with --auth, or listen on 127.0.0.1, or allow it with --open-to-everyone.',
  )
}

function isLoopbackHost(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopback(host)
}
