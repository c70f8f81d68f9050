import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import type { Settings } from '../../settings/settings.ts'
import { GRPC_PORT_OFFSET, LARGEST_PORT } from './grpc-port.ts'

const MOST_TRIES = 50

/**
 * The port that a server will listen on. Servers that share a store are named by their port before they listen. So for the
 * setting 0 this chooses a free port, such that gRPC can have the port 1000 above.
 */
export async function ownPort(settings: Pick<Settings, 'host' | 'port' | 'grpcPort'>): Promise<number> {
  const { host, port, grpcPort } = settings
  if (port !== 0) return port
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const free = await freePort(host, 0)
    const isGood =
      free !== undefined && (grpcPort !== 'auto' || (await freePort(host, free + GRPC_PORT_OFFSET)))
    if (isGood) return free
  }
  throw new Error('no free port was found')
}

/** A free port, with this number unless it is 0; undefined if it is in use. */
async function freePort(host: string, wanted: number): Promise<number | undefined> {
  if (wanted > LARGEST_PORT) return undefined
  const probe = createServer().listen(wanted, host)
  try {
    await once(probe, 'listening')
  } catch {
    return undefined
  }
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
