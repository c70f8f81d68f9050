import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import { type Due, NOT_DUE } from '../../../core/work/due-book.ts'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-session.ts'

/** How long a session that is being closed may take to send what was given to it. */
const CLOSING_MS = 500

/** How long a client may take to leave once it has said so. */
const LEAVING_MS = 10_000

/** What a session is made of. */
export interface Http2SessionParts {
  /** It gives plain bytes: with TLS it is the one that decrypts. */
  readonly socket: Socket
  readonly options: ServerOptions
  /** Epoch ms. */
  readonly openedMs: number
}

/** A session of HTTP/2 on its TCP connection. */
export class Http2Session implements ClientSession, Due {
  dueTick = NOT_DUE
  isKnown = false
  readonly id: string
  readonly ip: string
  readonly port: number
  readonly certificateUser: CertificateUser | undefined
  readonly #http2: ServerHttp2Session
  readonly #socket: Socket
  #unread: (() => void)[] = []
  #isPinging = false
  #late: NodeJS.Timeout | undefined

  /** Begins to receive. */
  constructor({ socket, options, openedMs }: Http2SessionParts) {
    this.#socket = socket
    // What is wrong with a session or its socket ends it.
    socket.on('error', nothing)
    socket.on(
      'close',
      guarded('connection', nothing, () => clearTimeout(this.#late)),
    )
    this.ip = plainAddress(socket.remoteAddress)
    this.port = socket.remotePort ?? 0
    this.id = `${openedMs}_${this.ip}_${this.port}`
    this.certificateUser = certificateUserOf(socket)
    this.#http2 = performServerHandshake(socket, options)
    this.#http2.destroy = (error) => this.#endSocket(error)
    this.#http2.on('error', nothing)
    this.#http2.on(
      'goaway',
      this.#guard(() => {
        if (this.#late === undefined) this.#endIn(LEAVING_MS)
      }),
    )
  }

  /** Calls back when it has ended. */
  onClose(closed: () => void): void {
    this.#http2.on('close', this.#guard(closed))
  }

  /** Calls back for each stream that the client opens. */
  onStream(opened: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void): void {
    this.#http2.on('stream', this.#guard(opened))
  }

  close(): void {
    if (this.#socket.destroyed) return
    const destroy = (): void => this.destroy()
    if (!this.#http2.destroyed && !this.#http2.closed)
      contained('connection', destroy, () => this.#http2.close())
    this.#endIn(CLOSING_MS)
  }

  /**
   * Node calls it instead of its own `destroy`, after which it still reads frames that it has received before, and aborts the
   * process by some of them (`Assertion failed: onread->IsFunction()`). Once the socket is closed there are none
   * (decision 0048).
   */
  #endSocket(error: unknown): void {
    const end = (): void => {
      if (error !== undefined && error !== null) return void this.#socket.destroy()
      this.#socket.end()
      this.#endIn(CLOSING_MS)
    }
    setImmediate(this.#guard(end))
  }

  /** Node waits for a client that neither ends its calls nor closes its side, also where it does not read any more. */
  #endIn(milliseconds: number): void {
    clearTimeout(this.#late)
    const end = guarded('connection', nothing, () => void this.#socket.destroy())
    this.#late = setTimeout(end, milliseconds)
  }

  /** Calls back once the client has read all that has left its streams, or the session has ended. */
  whenRead(done: () => void): void {
    this.#unread.push(done)
    if (!this.#isPinging) this.#ping()
  }

  /** A client answers a ping after what was sent before it. One ping asks for all that have waited for the one before. */
  #ping(): void {
    const waiting = this.#unread.splice(0)
    if (waiting.length === 0) return
    const destroy = (): void => this.destroy()
    const answered = this.#guard(() => {
      this.#isPinging = false
      for (const done of waiting) contained('connection', destroy, done)
      this.#ping()
    })
    this.#isPinging = true
    if (this.#http2.destroyed) answered()
    else contained('connection', answered, () => void this.#http2.ping(answered))
  }

  /** Ends it at once. */
  destroy(): void {
    this.#socket.destroy()
  }

  #guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void {
    return guarded('connection', () => this.destroy(), run)
  }
}
