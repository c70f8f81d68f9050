import type { AddressInfo, Socket } from 'node:net'
import { createServer, type Server, type TLSSocket } from 'node:tls'
import { caught, contained, guarded, nothing } from '../core/unexpected.ts'
import { PeerPlaces, type PeerRoom } from './peer-places.ts'
import type { PeerSecrets } from './peer-secret.ts'
import { answeringTls } from './peer-tls.ts'

/** How often idle connections, and those of an ended secret, are looked for. */
const SWEEP_MS = 1_000

/** The options of a peer listener. */
export interface PeerListenerOptions {
  readonly secrets: PeerSecrets
  readonly room: PeerRoom
  /** A connection after its handshake. */
  readonly onOpen: (connection: Socket) => void
}

/** The peer port, which speaks TLS only. Each connection has a place from its beginning. */
export class PeerListener {
  readonly #onOpen: PeerListenerOptions['onOpen']
  readonly #listener: Server
  readonly #places: PeerPlaces
  /** The connections in their handshake, by address and port: Node does not tell which connection a TLSSocket decrypts. */
  readonly #begun = new Map<string, Socket>()
  /** The connection below each TLS connection. */
  readonly #below = new WeakMap<Socket, Socket>()
  /** The id of the secret that each TLS connection has shown. */
  readonly #shown = new WeakMap<object, string>()
  readonly #sweeping: NodeJS.Timeout
  /** Handshakes that have failed since the start. A connection without TLS fails at its own. */
  strange = 0

  constructor({ room, secrets, onOpen }: PeerListenerOptions) {
    this.#onOpen = onOpen
    this.#places = new PeerPlaces(room)
    const shown = (connection: unknown, id: string): void => void this.#shown.set(connection as object, id)
    this.#listener = createServer(answeringTls(secrets, shown))
    const sweep = (): void =>
      this.#places.closeEnded(performance.now(), (id) => secrets().some((secret) => secret.id === id))
    this.#sweeping = setInterval(guarded('connection', nothing, sweep), SWEEP_MS).unref()
    const admit = (socket: Socket): void => this.#admit(socket)
    this.#listener.on('connection', guarded('connection', nothing, admit))
    this.#listener.on('secureConnection', (secure) =>
      contained(
        'connection',
        () => secure.destroy(),
        () => this.#secured(secure),
      ),
    )
    const refuse = ({ code }: NodeJS.ErrnoException, secure: TLSSocket): void => {
      secure.destroy()
      // A connection that its peer left, or that was too slow, is counted elsewhere.
      if (code !== 'ECONNRESET') this.strange++
    }
    this.#listener.on('tlsClientError', guarded('connection', nothing, refuse))
  }

  /** Listens. Rejects if the port is taken. */
  async listen(port: number, host: string): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#listener.once('error', reject)
      this.#listener.listen(port, host, resolve)
    })
    this.#listener.removeAllListeners('error').on('error', (error) => caught('listener', error))
  }

  /** The port that it listens on. */
  get port(): number {
    return (this.#listener.address() as AddressInfo).port
  }

  /** Connections that were closed because no signed question came, or came too late. */
  get closedStrangers(): number {
    return this.#places.closedStrangers
  }

  /** A connection has shown a signed question: it belongs to a member. */
  asked(connection: Socket): void {
    this.#places.asked(this.#below.get(connection)!)
  }

  /** Ends all connections, and waits until they have ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    clearInterval(this.#sweeping)
    this.#places.closeAll()
    await closed
  }

  #admit(socket: Socket): void {
    // An error before anybody reads the connection ends it; nothing else is needed.
    socket.on('error', nothing)
    this.#places.admit(socket)
    const place = placeOf(socket)
    this.#begun.set(place, socket)
    const forget = (): void => {
      if (this.#begun.get(place) === socket) this.#begun.delete(place)
    }
    socket.on('close', guarded('connection', nothing, forget))
  }

  #secured(secure: TLSSocket): void {
    const socket = this.#begun.get(placeOf(secure))
    if (socket === undefined) return void secure.destroy()
    this.#begun.delete(placeOf(secure))
    this.#below.set(secure, socket)
    // Nobody without the secret can finish a handshake.
    this.#places.asked(socket, this.#shown.get(secure))
    this.#onOpen(secure)
  }
}

function placeOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
