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
  readonly #open = new Map<Socket, Connection>()
  readonly #settings: ConnectionSettings
  readonly #log: Pick<HttpLog, 'warn'>
  readonly #ofAddress = new Map<string, number>()
  #loggedMs = -Infinity

  constructor(settings: ConnectionSettings, log: Pick<HttpLog, 'warn'>) {
    this.#settings = settings
    this.#log = log
  }

  get size(): number {
    return this.#open.size
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

  /** Accepts a connection. Returns false if there are too many; the connection then got an error. */
  admit(socket: Socket): boolean {
    this.accepted++
    const { maxConnections, maxConnectionsPerAddress } = this.#settings
    if (this.#open.size >= maxConnections) return this.#refuse(socket)
    if (maxConnectionsPerAddress > 0 && !this.#countAddress(socket)) return this.#refuse(socket)
    this.#open.set(socket, new Connection(socket, performance.now()))
    socket.on('close', () => this.#open.delete(socket))
    return true
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
    endWith(socket, TOO_MANY)
    socket.resume()
    return false
  }

  #report(what: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#log.warn({ refusedSoFar: this.counts.refused, open: this.#open.size }, what)
  }
}
