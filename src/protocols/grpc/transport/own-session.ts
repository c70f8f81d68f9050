import type { Socket } from 'node:net'
import { contained, nothing } from '../../../core/unexpected.ts'
import { type ConnectionListener, ServerConnection } from '../../../http2/connection.ts'
import type { LimitCounts } from '../../../http2/limits.ts'
import type { RequestHead } from '../../../http2/request-head.ts'
import type { Http2Stream } from '../../../http2/stream.ts'
import type { CallHead, CallStream } from './call-stream.ts'
import { OwnCallStream } from './own-call-stream.ts'
import { CLOSING_MS, ConnectionSession } from './session.ts'

/** The most that is taken from a connection at once: more waits until the socket has sent it. */
const WRITE_BYTES = 64 * 1024

/** What a session of the server's own HTTP/2 is made of. */
export interface OwnSessionParts {
  readonly socket: Socket
  /** Epoch ms. */
  readonly openedMs: number
  readonly monotonicMs: () => number
  readonly counts: LimitCounts
  readonly turn: SendingTurn
}

/** Sends what sessions have to send, once in a turn of the event loop. */
export class SendingTurn {
  #sessions: OwnSession[] = []

  /** Lets a session send at the end of this turn. */
  add(session: OwnSession): void {
    if (this.#sessions.push(session) === 1) setImmediate(() => this.#send())
  }

  #send(): void {
    const sessions = this.#sessions
    this.#sessions = []
    for (const session of sessions) session.send()
  }
}

/** A session of the server's own HTTP/2: it carries bytes between the socket and the state machine. */
export class OwnSession extends ConnectionSession implements ConnectionListener {
  readonly #http2: ServerConnection
  readonly #turn: SendingTurn
  #opened: (stream: CallStream, head: CallHead) => void = nothing
  #closed: () => void = nothing
  #pingAnswered: (() => void) | undefined
  #isFull = false
  #isEnded = false

  /** Begins to receive. */
  constructor({ socket, openedMs, monotonicMs, counts, turn }: OwnSessionParts) {
    super(socket, openedMs)
    this.#turn = turn
    this.#http2 = new ServerConnection({ listener: this, counts, nowMs: monotonicMs() })
    socket.on(
      'data',
      this.guard((bytes: Buffer) => this.#http2.receive(bytes, monotonicMs())),
    )
    socket.on(
      'drain',
      this.guard(() => {
        this.#isFull = false
        this.#send()
      }),
    )
    socket.on(
      'end',
      this.guard(() => this.endIn(CLOSING_MS)),
    )
    socket.on(
      'close',
      this.guard(() => this.#lost()),
    )
    this.#turn.add(this)
  }

  onClose(closed: () => void): void {
    this.#closed = closed
  }

  onStream(opened: (stream: CallStream, head: CallHead) => void): void {
    this.#opened = opened
  }

  close(): void {
    if (this.socket.destroyed) return
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
    this.#opened(new OwnCallStream(stream), head)
  }

  sending(): void {
    this.#turn.add(this)
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

  /** Sends what there is, unless the socket is full. */
  send(): void {
    contained(
      'connection',
      () => this.destroy(),
      () => this.#send(),
    )
  }

  #send(): void {
    while (!this.#isFull && !this.#isEnded) {
      const bytes = this.#http2.take(WRITE_BYTES)
      if (bytes === undefined) return
      this.#isFull = !this.socket.write(bytes)
    }
  }

  #lost(): void {
    this.#isEnded = true
    this.#http2.lost()
    this.pingAnswered()
    this.#closed()
  }
}
