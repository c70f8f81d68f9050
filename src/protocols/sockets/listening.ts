import type { AddressInfo, Server } from 'node:net'
import { caught } from '../../core/unexpected.ts'

/** Connections that the system may accept before the server does. */
const BACKLOG = 4_096

/** Starts listening; `port` 0 takes any. Rejects if the address cannot be used. A later error is only a fault. */
export function listenOn(
  listener: Server,
  { host, port }: { host: string; port: number },
): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    listener.once('error', reject)
    listener.listen({ host, port, backlog: BACKLOG }, () => {
      listener.off('error', reject)
      // A connection that cannot be accepted, such as for want of file descriptors.
      listener.on('error', (error) => caught('listener', error))
      resolve(listener.address() as AddressInfo)
    })
  })
}
