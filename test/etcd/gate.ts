import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to etcd that a test can cut. */
export interface Gate {
  readonly endpoint: string
  /** Ends all connections, and refuses new ones until it is opened. */
  cut(): void
  open(): void
  stop(): Promise<void>
}

/** Passes on what comes to a port of its own. */
export async function startGate(endpoint: string): Promise<Gate> {
  const { hostname: host, port } = new URL(endpoint)
  const sockets = new Set<Socket>()
  let isCut = false
  const server = createServer((client) => {
    if (isCut) return void client.destroy()
    const etcd = connect(Number(port), host)
    for (const [one, other] of [
      [client, etcd],
      [etcd, client],
    ] as const) {
      sockets.add(one)
      one
        .on('error', () => {})
        .on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    isCut = true
    for (const socket of sockets) socket.destroy()
  }
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut,
    open: () => (isCut = false),
    async stop() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
