import type { Socket } from 'node:net'
import { guarded, nothing } from '../../core/unexpected.ts'
import { plainAddress } from './plain-address.ts'

/** How many connections there may be. */
export interface ConnectionSettings {
  readonly maxConnections: number
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number
}

/** Where refusals are reported. */
export interface AdmissionLog {
  warn(facts: object, text: string): void
}

/** Refused connections come in thousands; one line a minute reports them. */
const LOG_EVERY_MS = 60_000

/** How many connections beyond the limit still get an answer with the reason; Node closes further ones at once. */
const MOST_ANSWERED = 256

/** The connections of a port, within limits: in all, and of one address. */
export class Admission {
  /** Connections that were refused since the start. */
  refused = 0
  /** Connections that were admitted or refused since the start. */
  accepted = 0
  readonly #admitted = new Set<Socket>()
  readonly #settings: ConnectionSettings
  readonly #log: AdmissionLog
  readonly #ofAddress = new Map<string, number>()
  #loggedMs = -Infinity
  /** One listener for all sockets: a listener for each would take a fifth of a kilobyte. */
  readonly #closed = guarded('connection', nothing, leaving(this.#admitted))

  constructor(settings: ConnectionSettings, log: AdmissionLog) {
    this.#settings = settings
    this.#log = log
  }

  get size(): number {
    return this.#admitted.size
  }

  /** How many connections Node may accept. */
  get hardLimit(): number {
    return this.#settings.maxConnections + MOST_ANSWERED
  }

  /** The connections that are admitted and open. */
  get sockets(): Iterable<Socket> {
    return this.#admitted
  }

  /** Admits a connection until it closes. False if there are too many: the caller closes it then. */
  admit(socket: Socket): boolean {
    this.accepted++
    const { maxConnections, maxConnectionsPerAddress } = this.#settings
    const isAllowed =
      this.#admitted.size < maxConnections && (maxConnectionsPerAddress === 0 || this.#countAddress(socket))
    if (!isAllowed) {
      this.#refuse(socket)
      return false
    }
    this.#admitted.add(socket)
    socket.on('close', this.#closed)
    return true
  }

  #countAddress(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress)
    const count = this.#ofAddress.get(address) ?? 0
    if (count >= this.#settings.maxConnectionsPerAddress) return false
    this.#ofAddress.set(address, count + 1)
    const leave = (): void => {
      const left = (this.#ofAddress.get(address) ?? 1) - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    }
    socket.on('close', guarded('connection', nothing, leave))
    return true
  }

  #refuse(socket: Socket): void {
    this.refused++
    socket.on('error', () => undefined)
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#log.warn(
      { refusedSoFar: this.refused, open: this.#admitted.size },
      'connections were refused: raise max-connections, or find out who opens so many',
    )
  }
}

/** A listener that takes its own socket out of the set. */
function leaving(sockets: Set<Socket>): (this: Socket) => void {
  return function () {
    sockets.delete(this)
  }
}
