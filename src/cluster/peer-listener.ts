import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, type Server as TlsServer, type TLSSocket } from 'node:tls'
import { caught, contained, guarded, nothing } from '../core/unexpected.ts'
import { PeerPlaces, type PeerRoom } from './peer-places.ts'
import type { PeerSecrets } from './peer-secret.ts'
import { answeringTls, TLS_HANDSHAKE } from './peer-tls.ts'

/** What a peer listener does with its connections. */
export interface PeerListenerOptions {
  readonly secrets: PeerSecrets
  readonly room: PeerRoom
  /** Whether connections without TLS are closed. */
  readonly refusesPlain: () => boolean
  /** A connection whose bytes can be read: without TLS, or after its handshake. */
  readonly onOpen: (connection: Socket) => void
}

/**
 * The peer port. The first byte of a connection tells whether it speaks TLS, so servers of before TLS use the same port. Each
 * connection has a place from its beginning, whatever it says.
 */
export class PeerListener {
  readonly #options: PeerListenerOptions
  readonly #listener: Server
  readonly #tls: TlsServer
  readonly #places: PeerPlaces
  /** The connections in their handshake, by their addresses and ports: Node does not tell which one a TLSSocket decrypts. */
  readonly #begun = new Map<string, Socket>()
  /** The connection below each one with TLS. */
  readonly #below = new WeakMap<Socket, Socket>()
  /** Since the start: connections without TLS that were closed for it, and handshakes that have failed. */
  readonly counts = { plain: 0, strange: 0 }

  constructor(options: PeerListenerOptions) {
    const { room, secrets } = options
    this.#options = options
    this.#places = new PeerPlaces(room)
    this.#listener = createTcpServer(guarded('connection', nothing, (socket: Socket) => this.#admit(socket)))
    this.#tls = createTlsServer(answeringTls(secrets, room.strangerMs))
    this.#tls.on('secureConnection', (secure) =>
      contained(
        'connection',
        () => secure.destroy(),
        () => this.#secured(secure),
      ),
    )
    const refuse = ({ code }: NodeJS.ErrnoException, secure: TLSSocket): void => {
      secure.destroy()
      // One that left, or that was closed here because it took too long, is counted elsewhere.
      if (code !== 'ECONNRESET' && code !== 'ERR_TLS_HANDSHAKE_TIMEOUT') this.counts.strange++
    }
    this.#tls.on('tlsClientError', guarded('connection', nothing, refuse))
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
    this.#places.asked(this.#below.get(connection) ?? connection)
  }

  /** Ends all connections, and waits until they have ended. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#listener.close(() => resolve()))
    this.#places.closeAll()
    await closed
  }

  #admit(socket: Socket): void {
    // What breaks before anybody reads it needs no more than its end.
    socket.on('error', nothing)
    this.#places.admit(socket)
    socket.once(
      'readable',
      guarded(
        'connection',
        () => socket.destroy(),
        () => this.#begin(socket),
      ),
    )
  }

  #begin(socket: Socket): void {
    const first = socket.read() as Buffer | null
    // It has ended without a word.
    if (first === null) return void socket.destroy()
    socket.unshift(first)
    if (first[0] === TLS_HANDSHAKE) return this.#secure(socket)
    if (!this.#options.refusesPlain()) return this.#options.onOpen(socket)
    this.counts.plain++
    socket.destroy()
  }

  #secure(socket: Socket): void {
    const place = placeOf(socket)
    this.#begun.set(place, socket)
    const forget = (): void => {
      if (this.#begun.get(place) === socket) this.#begun.delete(place)
    }
    socket.on('close', guarded('connection', nothing, forget))
    this.#tls.emit('connection', socket)
  }

  #secured(secure: TLSSocket): void {
    const socket = this.#begun.get(placeOf(secure))
    if (socket === undefined) return void secure.destroy()
    this.#begun.delete(placeOf(secure))
    this.#below.set(secure, socket)
    // Nobody can finish a handshake who does not know the secret.
    this.#places.asked(socket)
    this.#options.onOpen(secure)
  }
}

function placeOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}
