import { clientNetwork } from '../../../core/access/client-network.ts'
import { whenClosed } from '../../sockets/when-closed.ts'
import type { Socket } from 'node:net'
import { ownText } from '../../../core/text/own-text.ts'
import { contained, failed, guarded, nothing } from '../../../core/unexpected.ts'
import { type Due, NOT_DUE } from '../../../core/work/due-book.ts'
import { type ConnectionListener, ServerConnection } from '@waypost/http2/connection'
import type { LimitCounts } from '@waypost/http2/limits'
import type { RequestHead } from '@waypost/http2/request-head'
import type { Http2Stream } from '@waypost/http2/stream'
import { plainAddress } from '../../sockets/plain-address.ts'
import type { SocketPlace } from '../../sockets/admission.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-connection.ts'
import { type CallHead, type Carrier, CallStream } from './call-stream.ts'
import type { ServedSession, SessionTurns } from './session-turns.ts'

/** How long a session that is being closed may take to send its last bytes. */
const CLOSING_MS = 500

/** How long a client may take to leave once it has said so. */
const LEAVING_MS = 10_000

/** The most that is taken from a connection at once: more waits until the socket has sent it. */
const WRITE_BYTES = 64 * 1024

/** With this many bytes that wait for their turn, nothing more is read. */
const MOST_WAITING_BYTES = 256 * 1024

/** The dependencies of a session. */
export interface ConnectionSessionParts {
  readonly socket: Socket
  /** Its place among the connections of its network. */
  readonly place?: SocketPlace | undefined
  /** Epoch ms. */
  readonly openedMs: number
  readonly monotonicMs: () => number
  readonly counts: LimitCounts
  readonly turns: SessionTurns
  readonly keeper: SessionKeeper
}

/** Gets the events of all sessions: callbacks for each would take a fifth of a kilobyte. */
export interface SessionKeeper {
  /** The client has opened a stream. */
  opened(session: ConnectionSession, stream: CallStream, head: CallHead): void
  /** The session has ended. */
  closed(session: ConnectionSession): void
}

/** The session of a socket. Its listeners are the same for all sockets: four closures take almost a kilobyte. */
const SESSION = Symbol('session')

interface SessionSocket extends Socket {
  [SESSION]?: ConnectionSession
}

/** A listener of sockets. An error ends the session. */
function listenerOf<Args extends unknown[]>(run: (session: ConnectionSession, ...args: Args) => void) {
  return function (this: SessionSocket, ...args: Args): void {
    const session = this[SESSION]!
    try {
      run(session, ...args)
    } catch (error) {
      failed('connection', () => session.destroy(), error)
    }
  }
}

/** No callback waits for a ping. */
const NOBODY: readonly (() => void)[] = []

/** A session of HTTP/2 on its TCP connection: it carries bytes between the socket and the state machine. */
export class ConnectionSession implements ClientSession, Due, ConnectionListener, ServedSession, Carrier {
  dueTick = NOT_DUE
  isKnown = false
  owner: string
  readonly id: string
  readonly ip: string
  readonly port: number
  readonly certificateUser: CertificateUser | undefined
  /** It gives plain bytes: with TLS it is the one that decrypts. */
  readonly #socket: Socket
  readonly #place: SocketPlace | undefined
  readonly #http2: ServerConnection
  readonly #turns: SessionTurns
  readonly #monotonicMs: () => number
  readonly #keeper: SessionKeeper
  /** Callbacks for the next ping. */
  readonly #unread: (() => void)[] = []
  /** Callbacks for the answer to the ping under way. */
  #pinged = NOBODY
  #late: NodeJS.Timeout | undefined
  /** Bytes that have come and are not handled yet. */
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** The bytes of requests that were carried out in this turn. */
  #carriedBytes = 0
  #isServing = false
  #isFull = false
  #isEnded = false
  static readonly #listeners = [
    ['data', listenerOf((session, bytes: Buffer) => session.#came(bytes))],
    ['drain', listenerOf((session) => session.#drained())],
    ['end', listenerOf((session) => session.#clientEnded())],
    ['close', listenerOf((session) => session.#lost())],
  ] as const

  /** Begins to receive. */
  constructor({ socket, place, openedMs, monotonicMs, counts, turns, keeper }: ConnectionSessionParts) {
    this.#socket = socket
    this.#place = place
    // An error of a session or its socket ends it.
    socket.on('error', nothing)
    this.ip = plainAddress(socket.remoteAddress)
    this.port = socket.remotePort ?? 0
    this.owner = clientNetwork(this.ip)
    this.id = ownText(`${openedMs}_${this.ip}_${this.port}`)
    this.certificateUser = certificateUserOf(socket)
    this.#turns = turns
    this.#keeper = keeper
    this.#monotonicMs = monotonicMs
    this.#http2 = new ServerConnection({ listener: this, counts, nowMs: monotonicMs() })
    ;(socket as SessionSocket)[SESSION] = this
    for (const [event, listener] of ConnectionSession.#listeners) socket.on(event, listener)
    this.sending()
  }

  /** Ends it: answers that were given to it are sent first. */
  close(): void {
    if (this.#socket.destroyed) return
    // Received requests are still answered.
    this.#receive()
    this.#http2.close()
    this.#endIn(CLOSING_MS)
  }

  /** Ends it at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  /** Ends calls that are late. Call it about once a second. */
  sweep(nowMs: number): void {
    this.#http2.sweep(nowMs)
  }

  /** Calls back once the client has read all that has left its streams, or the session has ended. */
  whenRead(done: () => void): void {
    this.#unread.push(done)
    this.#ping()
  }

  /** The client has said that it leaves. */
  leaving(): void {
    if (this.#late === undefined) this.#endIn(LEAVING_MS)
  }

  opened(stream: Http2Stream, { path, method, fields }: RequestHead): void {
    const head = {
      path,
      method,
      contentType: fields.get('content-type'),
      encoding: fields.get('grpc-encoding'),
    }
    this.#keeper.opened(this, new CallStream(stream, this), head)
  }

  carried(bytes: number): void {
    this.#carriedBytes += bytes
  }

  sending(): void {
    if (!this.#isServing) this.#turns.add(this)
  }

  pingAnswered(): void {
    const read = this.#pinged
    this.#pinged = NOBODY
    for (const done of read) contained('connection', () => this.destroy(), done)
    this.#ping()
  }

  /** All is sent. Later bytes are still read, or the client could lose the last answers. */
  over(): void {
    this.#isEnded = true
    const last = this.#http2.take(Infinity)
    if (last === undefined) this.#socket.end()
    else this.#socket.end(last)
    this.#endIn(CLOSING_MS)
    this.pingAnswered()
  }

  serve(): number {
    let bytes = this.#waitingBytes
    this.#carriedBytes = 0
    this.#isServing = true
    try {
      this.#receive()
      bytes += this.#send()
    } catch (error) {
      failed('connection', () => this.destroy(), error)
    }
    this.#isServing = false
    if (this.#place !== undefined) this.#place.isKept = this.#http2.hasStreams
    return bytes + this.#carriedBytes
  }

  /** One ping asks for all that have waited for the one before. */
  #ping(): void {
    if (this.#unread.length === 0 || this.#pinged.length > 0) return
    this.#pinged = this.#unread.splice(0)
    if (this.#isEnded) this.pingAnswered()
    else this.#http2.ping()
  }

  #came(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#socket.pause()
    this.#turns.add(this)
  }

  #receive(): void {
    const pieces = this.#waiting
    if (pieces.length === 0) return
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.#socket.resume()
    this.#waiting = []
    this.#waitingBytes = 0
    const nowMs = this.#monotonicMs()
    for (const piece of pieces) this.#http2.receive(piece, nowMs)
  }

  /** Sends the waiting bytes, unless the socket is full. Returns how many it sent. */
  #send(): number {
    let sent = 0
    while (!this.#isFull && !this.#isEnded) {
      const bytes = this.#http2.take(WRITE_BYTES)
      if (bytes === undefined) break
      this.#isFull = !this.#socket.write(bytes)
      sent += bytes.length
    }
    return sent
  }

  #drained(): void {
    this.#isFull = false
    this.sending()
  }

  #clientEnded(): void {
    this.#receive()
    this.#endIn(CLOSING_MS)
  }

  #lost(): void {
    this.#receive()
    this.#isEnded = true
    this.#http2.lost()
    this.pingAnswered()
    this.#keeper.closed(this)
  }

  /** Ends a client that neither ends its calls nor closes its side, also where it does not read any more. */
  #endIn(milliseconds: number): void {
    if (this.#late === undefined) whenClosed(this.#socket, 'connection', () => clearTimeout(this.#late))
    clearTimeout(this.#late)
    this.#late = setTimeout(
      guarded('connection', nothing, () => this.destroy()),
      milliseconds,
    )
  }
}
