import type { Socket } from 'node:net'
import type { HttpLog } from './exchange-context.ts'
import { endWith, type Reason } from '../errors/client-error.ts'
import { plainAddress } from './client-address.ts'
import { Connection } from './connection.ts'

/** How many connections there may be. */
export interface ConnectionSettings {
  readonly maxConnections: number
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number
}

/** Refused connections come in thousands; one line a minute reports them. */
const LOG_EVERY_MS = 60_000

/** How many connections beyond the limit get an error; Node closes further ones without an answer. */
const MOST_TOLD = 256

const TOO_MANY: Reason = {
  code: 'too-many-connections',
  status: 503,
  title: 'Service Unavailable',
  detail: 'The server has as many connections as it may: try again in a moment.',
}

/** The open connections of a server, within limits. */
export class Connections {
  /** Since the start: connections that were refused, and those cut because their client did not read. */
  readonly counts = { refused: 0, cut: 0 }
  /** Connections that were admitted or refused since the start. */
  accepted = 0
  /** The connections that were accepted, as Node accepts them. */
  readonly #admitted = new Set<Socket>()
  /** Those of them that are in their handshake. */
  readonly #pending = new Set<Socket>()
  readonly #open = new Map<Socket, Connection>()
  readonly #settings: ConnectionSettings
  readonly #log: Pick<HttpLog, 'warn'>
  readonly #isSecure: boolean
  readonly #ofAddress = new Map<string, number>()
  #loggedMs = -Infinity

  /** `isSecure`: clients speak TLS, so that nothing can be said before the handshake. */
  constructor(settings: ConnectionSettings, log: Pick<HttpLog, 'warn'>, isSecure = false) {
    this.#settings = settings
    this.#log = log
    this.#isSecure = isSecure
  }

  get size(): number {
    return this.#admitted.size
  }

  /** How many connections Node may accept. */
  get hardLimit(): number {
    return this.#settings.maxConnections + MOST_TOLD
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
    this.accepted++
    const { maxConnections, maxConnectionsPerAddress } = this.#settings
    if (this.#admitted.size >= maxConnections) return this.#refuse(socket)
    if (maxConnectionsPerAddress > 0 && !this.#countAddress(socket)) return this.#refuse(socket)
    this.#admitted.add(socket)
    this.#pending.add(socket)
    socket.on('close', () => {
      this.#admitted.delete(socket)
      this.#pending.delete(socket)
    })
    return true
  }

  /** Requests can come: on the socket that was `admitted`, or on the one that decrypts it. */
  open(socket: Socket, admitted = socket): void {
    this.#pending.delete(admitted)
    this.#open.set(socket, new Connection(socket, performance.now()))
    socket.on('close', () => this.#open.delete(socket))
  }

  /** Ends the connections that no answer is lost of, also those that are in their handshake. */
  destroyIdle(): void {
    for (const connection of this.#open.values()) if (connection.isIdle) connection.socket.destroy()
    for (const socket of this.#pending) socket.destroy()
  }

  /** Ends the connections that have shown a certificate, each with its last answer. */
  retireCertified(): void {
    for (const connection of this.#open.values())
      if (connection.certificateUser !== undefined) connection.retire()
  }

  /** Ends all connections at once, also those that are in their handshake. */
  destroyAll(): void {
    for (const socket of [...this.#open.keys(), ...this.#admitted]) socket.destroy()
  }

  #countAddress(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress)
    const count = this.#ofAddress.get(address) ?? 0
    if (count >= this.#settings.maxConnectionsPerAddress) return false
    this.#ofAddress.set(address, count + 1)
    socket.on('close', () => {
      const left = (this.#ofAddress.get(address) ?? 1) - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    })
    return true
  }

  #refuse(socket: Socket): false {
    this.counts.refused++
    this.#report('connections were refused: raise max-connections, or find out who opens so many')
    socket.on('error', () => undefined)
    if (this.#isSecure) socket.destroy()
    else {
      endWith(socket, TOO_MANY)
      socket.resume()
    }
    return false
  }

  #report(what: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#log.warn({ refusedSoFar: this.counts.refused, open: this.#admitted.size }, what)
  }
}
