import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Settings } from '../settings/settings.ts'

/**
 * The port that a server will listen on. Servers that share a store are named by their port before they listen, so a free
 * one is chosen here where the setting is 0.
 */
export async function ownPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<number> {
  if (port !== 0) return port
  const probe = createServer().listen(0, host)
  await once(probe, 'listening')
  const { port: free } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return free
}
