import { hostPort, withoutBrackets } from '../../core/text/ip-address.ts'
import { networkInterfaces } from 'node:os'
import type { Settings } from '../../settings/settings.ts'

const EVERY_ADDRESS = new Set(['0.0.0.0', '::', ''])

/** The URL of a server that listens on `host` and this port, for clients on this machine. */
export function urlOf({ host, tlsCert }: Pick<Settings, 'host' | 'tlsCert'>, port: number): string {
  return `${tlsCert === '' ? 'http' : 'https'}://${hostPort(host, port)}`
}

/** The address of this server in the server list. */
export function advertisedHost({ advertiseHost, host }: Pick<Settings, 'advertiseHost' | 'host'>): string {
  if (advertiseHost !== '') return withoutBrackets(advertiseHost)
  return EVERY_ADDRESS.has(host) ? (firstAddress() ?? '127.0.0.1') : host
}

/** The first address of the machine that others can reach. */
function firstAddress(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}

/** The port of this server in the server list; `port` is the listening port. */
export function advertisedPort({ advertisePort }: Pick<Settings, 'advertisePort'>, port: number): number {
  return advertisePort === 0 ? port : advertisePort
}
