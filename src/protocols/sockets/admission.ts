import type { Socket } from 'node:net'
import { clientNetwork } from '../../core/access/client-network.ts'
import { ClientTurns, type TurnPlace } from '../../core/work/client-turns.ts'
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

/** How many connections are looked at, at most, for one that comes. */
const MOST_LOOKED_AT = 16

/** The place of a connection. It is kept while a request or stream is on the connection. */
export type SocketPlace = TurnPlace<Socket>

/**
 * The connections of a port, within limits: in all, and of one address. Where there are as many as may be, the network with the most gives way,
 * if the network of the new connection will have fewer. Its oldest connection without a request or stream is closed.
 */
export class Admission {
  /** Connections since the start that were refused, or have given way to others. */
  refused = 0
  /** Connections that were admitted or refused since the start. */
  accepted = 0
  readonly #admitted = new Map<Socket, SocketPlace>()
  readonly #turns = new ClientTurns<Socket>()
  readonly #settings: ConnectionSettings
  readonly #log: AdmissionLog
  readonly #ofAddress = new Map<string, number>()
  #loggedMs = -Infinity
  /** One listener for all sockets: a listener for each would take a fifth of a kilobyte. */
  readonly #closed: (this: Socket) => void

  constructor(settings: ConnectionSettings, log: AdmissionLog) {
    this.#settings = settings
    this.#log = log
    const leave = (socket: Socket): void => this.#leave(socket)
    this.#closed = guarded('connection', nothing, function (this: Socket) {
      leave(this)
    })
  }

  get size(): number {
    return this.#turns.size
  }

  /** How many connections Node may accept. */
  get hardLimit(): number {
    return this.#settings.maxConnections + MOST_ANSWERED
  }

  /** The connections that are admitted and open. */
  get sockets(): Iterable<Socket> {
    return this.#admitted.keys()
  }

  /** The place of a connection that is admitted and open. */
  placeOf(socket: Socket): SocketPlace | undefined {
    return this.#admitted.get(socket)
  }

  /** Admits a connection until it closes. Undefined if there are too many: the caller closes it then. */
  admit(socket: Socket): SocketPlace | undefined {
    this.accepted++
    const { maxConnectionsPerAddress } = this.#settings
    const network = networkOf(socket)
    const isWithin = maxConnectionsPerAddress === 0 || this.#isWithin(socket)
    if (!isWithin || !this.#makePlace(network)) {
      this.#refuse(socket)
      return undefined
    }
    const place = this.#turns.add(network, socket)
    this.#admitted.set(socket, place)
    if (maxConnectionsPerAddress > 0) this.#countAddress(socket)
    socket.on('close', this.#closed)
    return place
  }

  /** A trusted proxy has sent a request of this address: its connection counts for that address. */
  usedFor(place: SocketPlace, address: string): void {
    const network = clientNetwork(address)
    if (place.client.name !== network && this.#admitted.has(place.thing)) this.#turns.move(place, network)
  }

  #makePlace(network: string): boolean {
    if (this.#turns.size < this.#settings.maxConnections) return true
    for (let looks = 0; looks < MOST_LOOKED_AT; looks++) {
      const place = this.#turns.givesWayTo(network, 'oldest')
      if (place === undefined) return false
      if (place.thing.writableLength === 0) {
        this.#report()
        this.#leave(place.thing)
        place.thing.destroy()
        return true
      }
      // Its client has not read its last answer yet.
      this.#turns.move(place, place.client.name)
    }
    return false
  }

  #leave(socket: Socket): void {
    const place = this.#admitted.get(socket)
    if (place === undefined) return
    this.#admitted.delete(socket)
    this.#turns.leave(place)
  }

  #isWithin(socket: Socket): boolean {
    const count = this.#ofAddress.get(plainAddress(socket.remoteAddress)) ?? 0
    return count < this.#settings.maxConnectionsPerAddress
  }

  #countAddress(socket: Socket): void {
    const address = plainAddress(socket.remoteAddress)
    this.#ofAddress.set(address, (this.#ofAddress.get(address) ?? 0) + 1)
    const leave = (): void => {
      const left = (this.#ofAddress.get(address) ?? 1) - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    }
    socket.on('close', guarded('connection', nothing, leave))
  }

  #refuse(socket: Socket): void {
    socket.on('error', () => undefined)
    this.#report()
  }

  #report(): void {
    this.refused++
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#log.warn(
      { refusedSoFar: this.refused, open: this.size },
      'connections were refused, or closed for others: raise max-connections, or find out who opens them',
    )
  }
}

function networkOf({ remoteAddress }: Socket): string {
  return clientNetwork(plainAddress(remoteAddress))
}
