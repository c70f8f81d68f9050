import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A port whose connections reach a server from another address of the machine. */
export interface Forwarder {
  readonly port: number
  close(): void
}

/** Forwards connections as they are. The server sees them come from `localAddress`. */
export async function forwardFrom(localAddress: string, port: number): Promise<Forwarder> {
  const sockets = new Set<Socket>()
  const keep = (socket: Socket, other: Socket): void => {
    sockets.add(socket)
    const end = (): void => {
      sockets.delete(socket)
      other.destroy()
    }
    socket.on('error', end).on('close', end)
  }
  const server = createServer((socket) => {
    const onward = connect({ host: '127.0.0.1', port, localAddress })
    keep(socket, onward)
    keep(onward, socket)
    socket.pipe(onward)
    onward.pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): void => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return { port: (server.address() as AddressInfo).port, close }
}
