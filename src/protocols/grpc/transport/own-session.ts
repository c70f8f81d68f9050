import type { Socket } from 'node:net'
import { failed, nothing } from '../../../core/unexpected.ts'
import { type ConnectionListener, ServerConnection } from '../../../http2/connection.ts'
import type { LimitCounts } from '../../../http2/limits.ts'
import type { RequestHead } from '../../../http2/request-head.ts'
import type { Http2Stream } from '../../../http2/stream.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import { type Carrier, OwnCallStream } from './own-call-stream.ts'
import { CLOSING_MS, ConnectionSession } from './session.ts'
import type { ServedSession, SessionTurns } from './session-turns.ts'

/** The most that is taken from a connection at once: more waits until the socket has sent it. */
const WRITE_BYTES = 64 * 1024

/** With this many bytes that wait for their turn, nothing more is read. */
const MOST_WAITING_BYTES = 256 * 1024

/** What a session of the server's own HTTP/2 is made of. */
export interface OwnSessionParts {
  readonly socket: Socket
  /** Epoch ms. */
  readonly openedMs: number
  readonly monotonicMs: () => number
  readonly counts: LimitCounts
  readonly turns: SessionTurns
}

/** The session of a socket. Its listeners are the same for all sockets: four closures take almost a kilobyte. */
const SESSION = Symbol('session')

interface SessionSocket extends Socket {
  [SESSION]?: OwnSession
}

/** A listener of sockets. What it throws ends the session. */
function listenerOf<Args extends unknown[]>(run: (session: OwnSession, ...args: Args) => void) {
  return function (this: SessionSocket, ...args: Args): void {
    const session = this[SESSION]!
    try {
      run(session, ...args)
    } catch (error) {
      failed('connection', () => session.destroy(), error)
    }
  }
}

/** A session of the server's own HTTP/2: it carries bytes between the socket and the state machine. */
export class OwnSession extends ConnectionSession implements ConnectionListener, ServedSession, Carrier {
  readonly #http2: ServerConnection
  readonly #turns: SessionTurns
  readonly #monotonicMs: () => number
  #opened: (stream: CallStream, head: CallHead) => void = nothing
  #closed: () => void = nothing
  #pingAnswered: (() => void) | undefined
  /** What has come and is not handled yet. */
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
  constructor({ socket, openedMs, monotonicMs, counts, turns }: OwnSessionParts) {
    super(socket, openedMs)
    this.#turns = turns
    this.#monotonicMs = monotonicMs
    this.#http2 = new ServerConnection({ listener: this, counts, nowMs: monotonicMs() })
    ;(socket as SessionSocket)[SESSION] = this
    for (const [event, listener] of OwnSession.#listeners) socket.on(event, listener)
    this.sending()
  }

  onClose(closed: () => void): void {
    this.#closed = closed
  }

  onStream(opened: (stream: CallStream, head: CallHead) => void): void {
    this.#opened = opened
  }

  close(): void {
    if (this.socket.destroyed) return
    // What has come is still answered.
    this.#receive()
    this.#http2.close()
    this.endIn(CLOSING_MS)
  }

  override sweep(nowMs: number): void {
    this.#http2.sweep(nowMs)
  }

  protected ping(answered: () => void): void {
    if (this.#isEnded) return answered()
    this.#pingAnswered = answered
    this.#http2.ping()
  }

  opened(stream: Http2Stream, { path, method, fields }: RequestHead): void {
    const head = {
      path,
      method,
      contentType: fields.get('content-type'),
      encoding: fields.get('grpc-encoding'),
    }
    this.#opened(new OwnCallStream(stream, this), head)
  }

  carried(bytes: number): void {
    this.#carriedBytes += bytes
  }

  sending(): void {
    if (!this.#isServing) this.#turns.add(this)
  }

  pingAnswered(): void {
    const answered = this.#pingAnswered
    this.#pingAnswered = undefined
    answered?.()
  }

  /** The last of it is sent. Whatever arrives later is read, or the client could lose what was sent. */
  over(): void {
    this.#isEnded = true
    const last = this.#http2.take(Infinity)
    if (last === undefined) this.socket.end()
    else this.socket.end(last)
    this.endIn(CLOSING_MS)
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
    return bytes + this.#carriedBytes
  }

  #came(bytes: Buffer): void {
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.socket.pause()
    this.#turns.add(this)
  }

  #receive(): void {
    const pieces = this.#waiting
    if (pieces.length === 0) return
    if (this.#waitingBytes > MOST_WAITING_BYTES) this.socket.resume()
    this.#waiting = []
    this.#waitingBytes = 0
    const nowMs = this.#monotonicMs()
    for (const piece of pieces) this.#http2.receive(piece, nowMs)
  }

  /** Sends what there is, unless the socket is full. Returns how many bytes it sent. */
  #send(): number {
    let sent = 0
    while (!this.#isFull && !this.#isEnded) {
      const bytes = this.#http2.take(WRITE_BYTES)
      if (bytes === undefined) break
      this.#isFull = !this.socket.write(bytes)
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
    this.endIn(CLOSING_MS)
  }

  #lost(): void {
    this.#receive()
    this.#isEnded = true
    this.#http2.lost()
    this.pingAnswered()
    this.#closed()
  }
}
