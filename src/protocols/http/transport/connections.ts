import { whenClosed } from '../../sockets/when-closed.ts'
import type { Socket } from 'node:net'
import type { HttpLog } from './exchange-context.ts'
import { endWith, type Reason } from '../errors/client-error.ts'
import { Admission, type ConnectionSettings, type SocketPlace } from '../../sockets/admission.ts'
import { Connection } from './connection.ts'

const TOO_MANY: Reason = {
  code: 'too-many-connections',
  status: 503,
  title: 'Service Unavailable',
  detail: 'The server has as many connections as it may: try again in a moment.',
}

/** How many refused connections get the reason at the same time. Others are closed at once: they must not keep out new ones. */
const MOST_REFUSED = 128

/** The open connections of a server, within limits. */
export class Connections {
  readonly admission: Admission
  /** Connections that were cut because their client did not read, since the start. */
  cut = 0
  /** The connections that were admitted and are in their handshake. */
  readonly #pending = new Map<Socket, SocketPlace>()
  /** Connections that were refused, while their client reads why. */
  #refused = 0
  readonly #open = new Map<Socket, Connection>()
  readonly #isSecure: boolean

  /** `isSecure`: clients speak TLS, so that nothing can be said before the handshake. */
  constructor(settings: ConnectionSettings, log: Pick<HttpLog, 'warn'>, isSecure = false) {
    this.admission = new Admission(settings, log)
    this.#isSecure = isSecure
  }

  get size(): number {
    return this.admission.size
  }

  /** How many connections were refused and cut since the start. */
  get counts(): { readonly refused: number; readonly cut: number } {
    return { refused: this.admission.refused, cut: this.cut }
  }

  /** The connection of a socket; undefined when it is closed. */
  of(socket: Socket): Connection | undefined {
    return this.#open.get(socket)
  }

  [Symbol.iterator](): Iterator<Connection> {
    return this.#open.values()
  }

  /** Accepts a connection; `open` follows. Returns false if there are too many; the connection then got an error. */
  admit(socket: Socket): boolean {
    const place = this.admission.admit(socket)
    if (place === undefined) {
      this.#end(socket)
      return false
    }
    this.#pending.set(socket, place)
    whenClosed(socket, 'connection', () => void this.#pending.delete(socket))
    return true
  }

  /** Requests can come: on the socket that was `admitted`, or on the one that decrypts it. */
  open(socket: Socket, admitted = socket): void {
    const place = this.#pending.get(admitted)
    this.#pending.delete(admitted)
    this.#open.set(socket, new Connection(socket, performance.now(), place))
    whenClosed(socket, 'connection', () => void this.#open.delete(socket))
  }

  /** A trusted proxy has sent a request of this address over a connection. */
  usedFor({ place }: Connection, address: string): void {
    if (place !== undefined) this.admission.usedFor(place, address)
  }

  /** Ends the connections whose end loses no answer, also during their handshake. */
  destroyIdle(): void {
    for (const connection of this.#open.values()) if (connection.isIdle) connection.socket.destroy()
    for (const socket of this.#pending.keys()) socket.destroy()
  }

  /** Ends the connections that have shown a certificate, each with its last answer. */
  retireCertified(): void {
    for (const connection of this.#open.values())
      if (connection.certificateUser !== undefined) connection.retire()
  }

  /** Ends all connections at once, also during their handshake. */
  destroyAll(): void {
    for (const socket of [...this.#open.keys(), ...this.admission.sockets]) socket.destroy()
  }

  #end(socket: Socket): void {
    if (this.#isSecure || this.#refused >= MOST_REFUSED) return void socket.destroy()
    this.#refused++
    whenClosed(socket, 'connection', () => void this.#refused--)
    endWith(socket, TOO_MANY)
    socket.resume()
  }
}
