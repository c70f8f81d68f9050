import { clientNetwork } from './client-network.ts'
import type { Identity } from './identity.ts'

/**
 * The client whose turn it is (`ClientTurns`): the user, or the network of a caller without one. It is an IPv4 address, or the
 * /64 of an IPv6 address.
 */
export function turnOf({ ip, identity }: { readonly ip: string; readonly identity: Identity }): string {
  return identity.kind === 'user' ? `user ${identity.username}` : `address ${clientNetwork(ip)}`
}
