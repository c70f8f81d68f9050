import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import type { Settings } from '../settings/settings.ts'

const EVERY_ADDRESS = new Set(['0.0.0.0', '::', '[::]', ''])

/** What a start prints: version, addresses, data directory, and something to try. `url` is where the server listens. */
export function banner(version: string, settings: Settings, url: string): string {
  const addresses = addressesOf(settings.host, url)
  return `Waypost ${version}
  address  ${addresses.join('  ')}
  data     ${resolve(settings.dataDir)}
  try      curl '${addresses[0]}/svc/v1/cs/configs' -d 'dataId=hello&group=DEFAULT_GROUP&content=world'
`
}

/** The addresses to reach a server at; all those of the machine, loopback first, where it listens on every address. */
function addressesOf(host: string, url: string): string[] {
  if (!EVERY_ADDRESS.has(host)) return [url]
  const found = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? [])
  const hosts = found.filter(({ family }) => family === 'IPv4').map(({ address }) => address)
  const { port } = new URL(url)
  return [...new Set(['127.0.0.1', ...hosts])].map((address) => `http://${address}:${port}`)
}
