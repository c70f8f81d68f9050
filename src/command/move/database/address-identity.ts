import { isIP } from 'node:net'
import { checkServerIdentity, TLSSocket } from 'node:tls'
import type { AuthPlugin, Connection } from 'mysql2'

/** Whether the identity has to be checked here: the driver verifies names only, and takes `localhost` for every address. */
export function isAddress(host: string): boolean {
  return isIP(host) !== 0
}

/** Why the certificate of a database does not belong to its address; undefined: it does. */
export function addressProblem(connection: Connection, address: string): Error | undefined {
  // The types of the driver leave it out. Without it nothing is read.
  const { stream } = connection as unknown as { readonly stream?: unknown }
  if (!(stream instanceof TLSSocket)) return new Error('the connection is not by TLS')
  return checkServerIdentity(address, stream.getPeerCertificate(true))
}

/** A plugin that gives no password to a server whose certificate does not belong to its address. */
export function forAddress(plugin: AuthPlugin, address: string): AuthPlugin {
  return (metadata) => {
    const problem = addressProblem(metadata.connection, address)
    return problem === undefined ? plugin(metadata) : () => Promise.reject<string>(problem)
  }
}
