import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../../../support/waypost.ts'

/** From the HTTP port to the gRPC port, as clients compute it. */
const GRPC_OFFSET = 1_000

/**
 * Gives each TCP connection to the next server, whoever opens it: no client stays at one server. It tries the next one where a server
 * refuses; it does not notice one that is frozen. The port for gRPC is 1000 above that for HTTP, there as here.
 */
export class Balancer {
  readonly port: number
  readonly #listeners: readonly Server[]
  readonly #open: Set<Socket>

  private constructor(port: number, listeners: readonly Server[], open: Set<Socket>) {
    this.port = port
    this.#listeners = listeners
    this.#open = open
  }

  /** Resolves when it listens; `ports`: those of HTTP of the servers, on 127.0.0.1. */
  static async start(ports: readonly number[]): Promise<Balancer> {
    const port = await freePort()
    const open = new Set<Socket>()
    const listeners = [0, GRPC_OFFSET].map((offset) =>
      listenerBefore(
        ports.map((each) => each + offset),
        open,
      ).listen(port + offset, '127.0.0.1'),
    )
    await Promise.all(listeners.map((each) => once(each, 'listening')))
    return new Balancer(port, listeners, open)
  }

  async stop(): Promise<void> {
    const closed = this.#listeners.map((each) => once(each.close(), 'close'))
    for (const socket of this.#open) socket.destroy()
    await Promise.all(closed)
  }
}

function listenerBefore(ports: readonly number[], open: Set<Socket>): Server {
  let turn = 0
  return createServer(async (near) => {
    hold(near, open)
    const from = turn++
    for (let tries = 0; tries < ports.length; tries++) {
      const far = await connected(ports[(from + tries) % ports.length]!)
      if (far === undefined) continue
      hold(far, open)
      near.on('close', () => far.destroy())
      far.on('close', () => near.destroy())
      // The bytes that came before are waiting: none of these bytes was read yet.
      near.pipe(far)
      far.pipe(near)
      if (near.destroyed) far.destroy()
      return
    }
    near.destroy()
  })
}

function hold(socket: Socket, open: Set<Socket>): void {
  open.add(socket.setNoDelay(true))
  socket.on('error', () => socket.destroy())
  socket.on('close', () => open.delete(socket))
}

/** Undefined where nobody listens. */
function connected(port: number): Promise<Socket | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => resolve(socket))
    socket.once('error', () => resolve(undefined))
  })
}
