import { whenClosed } from '../../sockets/when-closed.ts'
import type { Socket } from 'node:net'
import type { SocketPlace } from '../../sockets/admission.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import { Refusal } from '../../../core/refusal.ts'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'

/** How many requests beyond the limit a client may send before it is cut. Each takes some 2 KB. */
const MOST_SURPLUS = 1_000

/** A request of a connection, from its headers to the end of its answer. */
export interface Sequenced {
  /** Whether all of the request has arrived. */
  readonly isReceived: boolean
  /** Whether a part of its answer was given to Node. */
  readonly isAnswering: boolean
  /** Every request before it on its connection is answered. */
  begin(): void
  refuse(refusal: Refusal): void
  /** It will not be answered. */
  drop(): void
  /** The connection closed before the answer was sent. */
  connectionClosed(): void
}

/**
 * An open connection. Its requests are handled one at a time, in the order in which they arrived: each may build on the
 * effects of earlier ones.
 */
export class Connection {
  readonly socket: Socket
  /** Its place among the connections of its network. */
  readonly place: SocketPlace | undefined
  /** The user of the certificate that the client has shown. */
  readonly certificateUser: CertificateUser | undefined
  /** The request that is being handled or answered. */
  #current: Sequenced | undefined
  /** Requests that were sent ahead of earlier answers. */
  readonly #waiting: Sequenced[] = []
  /** Requests beyond the limit: the first one is refused, the others are dropped. */
  #surplus = 0
  readonly #arrival: Arrival
  #isRetired = false
  /** Where the latest request ends in all received bytes, if nothing behind it can be read. */
  #endsAt = Infinity

  constructor(socket: Socket, nowMs: number, place?: SocketPlace) {
    this.socket = socket
    this.place = place
    this.certificateUser = certificateUserOf(socket)
    this.#arrival = new Arrival(socket, nowMs)
    whenClosed(socket, 'connection', () => this.#closed())
  }

  /** Whether the last request has come: the connection ends with its answer. */
  get isRetired(): boolean {
    return this.#isRetired || this.socket.bytesRead > this.#endsAt
  }

  /** Whether requests wait for an earlier answer. */
  get hasWaiting(): boolean {
    return this.#waiting.length > 0
  }

  /** Whether a part of an answer was sent: a write to the socket now would end up inside it. */
  get isAnswering(): boolean {
    return this.#current?.isAnswering === true
  }

  /** Whether no answer is lost when the connection is closed now. */
  get isIdle(): boolean {
    return this.#current === undefined && this.socket.writableLength === 0
  }

  /**
   * Begins with a request once the earlier ones are answered. When `most` requests wait already, it is refused in its
   * turn, and the connection ends with that: later requests are dropped. So they are behind a request that ends at `endsAt`, counted in all received bytes. Node remembers dropped requests, too, until
   * the earlier ones are answered, so a client that sends very many is cut.
   */
  arrive(request: Sequenced, most: number, endsAt = Infinity): void {
    this.#arrival.began(request)
    if (this.#surplus > 0 || this.isRetired) return this.#drop(request)
    this.#endsAt = endsAt
    if (this.#current === undefined) {
      this.#current = request
      if (this.place !== undefined) this.place.isKept = true
      request.begin()
    } else if (this.#waiting.length < most) this.#waiting.push(request)
    else {
      this.#surplus = 1
      request.refuse(tooManyRequests(most))
    }
  }

  /** The answer of a request is sent. The next request begins. */
  answered(request: Sequenced): void {
    this.#arrival.answered(request)
    if (this.#current !== request) return
    const next = (this.#current = this.#waiting.shift())
    if (next === undefined && this.place !== undefined) this.place.isKept = false
    // Begun here, a queue of requests that are answered at once would be as many nested calls.
    if (next !== undefined)
      queueMicrotask(
        guarded(
          'connection',
          () => this.socket.destroy(),
          () => next.begin(),
        ),
      )
    else if (this.isRetired) this.socket.destroySoon()
    else this.#endsAt = Infinity
  }

  /** Takes no further requests, and ends once the received requests are answered. */
  retire(): void {
    this.#isRetired = true
    if (this.#current === undefined) this.socket.destroySoon()
  }

  /** Whether the client has been sending a request for longer than `limitMs`. Call it regularly. */
  isTooSlow(nowMs: number, limitMs: number): boolean {
    const waitsForUs = this.#current?.isReceived === true
    return this.#arrival.sinceMs(nowMs, waitsForUs) + limitMs < nowMs
  }

  #drop(request: Sequenced): void {
    request.drop()
    if (++this.#surplus > MOST_SURPLUS) this.socket.destroy()
  }

  #closed(): void {
    const open = [this.#current, ...this.#waiting.splice(0)]
    this.#current = undefined
    for (const request of open) contained('request', nothing, () => request?.connectionClosed())
  }
}

/** How long the current request of a connection has been arriving, measured by the received bytes. */
class Arrival {
  readonly #socket: Socket
  /** The latest request, until all of it has arrived. */
  #latest: Sequenced | undefined
  /** Whether the headers or the end of a request have arrived since the last look. */
  #progressed = false
  /** The bytes received when nothing of a further request had arrived; more belong to one. */
  #quietBytes = -1
  #sinceMs: number

  constructor(socket: Socket, nowMs: number) {
    this.#socket = socket
    this.#sinceMs = nowMs
  }

  /** The headers of a request have arrived. */
  began(request: Sequenced): void {
    this.#latest = request
    this.#progressed = true
  }

  /** A request is answered; it need not be remembered when all of it has arrived. */
  answered(request: Sequenced): void {
    if (this.#latest === request) this.#forgetReceived()
  }

  /** Since when a request has been arriving; `nowMs` without a request, or when the client waits for our answer. */
  sinceMs(nowMs: number, waitsForUs: boolean): number {
    this.#forgetReceived()
    if (this.#progressed) this.#quietBytes = this.#socket.bytesRead
    const isArriving = this.#latest !== undefined || this.#socket.bytesRead !== this.#quietBytes
    if (this.#progressed || waitsForUs || !isArriving) this.#sinceMs = nowMs
    this.#progressed = false
    return this.#sinceMs
  }

  #forgetReceived(): void {
    if (this.#latest?.isReceived !== true) return
    this.#latest = undefined
    this.#progressed = true
  }
}

function tooManyRequests(most: number): Refusal {
  const allowed = `at most ${most} requests`
  const message = `Ahead of their answers a connection may send ${allowed}.`
  return new Refusal('too-many-requests', message, { allowed })
}
