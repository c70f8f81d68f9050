import {
  type IncomingHttpHeaders,
  performServerHandshake,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2'
import type { Socket } from 'node:net'
import { type Due, NOT_DUE } from '../../../core/due-book.ts'
import { guarded, nothing } from '../../../core/unexpected.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-session.ts'
import { attempt, listen } from './listen.ts'

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
  /** Gets what a handler of an event throws: it must end the socket. */
  readonly failed: (error: unknown) => void
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
  readonly #failed: Http2SessionParts['failed']
  #unread: (() => void)[] = []
  #isPinging = false
  #late: NodeJS.Timeout | undefined

  /** Begins to receive. */
  constructor({ socket, options, openedMs, failed }: Http2SessionParts) {
    this.#socket = socket
    this.#failed = failed
    // What is wrong with a session or its socket ends it.
    listen(socket, { error: () => undefined, close: () => clearTimeout(this.#late) }, failed)
    this.ip = plainAddress(socket.remoteAddress)
    this.port = socket.remotePort ?? 0
    this.id = `${openedMs}_${this.ip}_${this.port}`
    this.certificateUser = certificateUserOf(socket)
    this.#http2 = performServerHandshake(socket, options)
    this.#http2.destroy = (error) => this.#endSocket(error)
    const leaves = (): void => (this.#late === undefined ? this.#endIn(LEAVING_MS) : undefined)
    listen(this.#http2, { error: () => undefined, goaway: leaves }, failed)
  }

  /** Calls back when it has ended. */
  onClose(closed: () => void): void {
    listen(this.#http2, { close: closed }, this.#failed)
  }

  /** Calls back for each stream that the client opens. */
  onStream(opened: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void): void {
    listen(this.#http2, { stream: opened }, this.#failed)
  }

  close(): void {
    if (this.#socket.destroyed) return
    if (!this.#http2.destroyed && !this.#http2.closed) attempt(() => this.#http2.close(), this.#failed)
    this.#endIn(CLOSING_MS)
  }

  /**
   * Node calls it instead of its own `destroy`, after which it still reads frames that it has received before, and aborts the
   * process by some of them (`Assertion failed: onread->IsFunction()`). Once the socket is closed there are none.
   */
  #endSocket(error: unknown): void {
    const end = (): void => {
      if (error !== undefined && error !== null) return void this.#socket.destroy()
      this.#socket.end()
      this.#endIn(CLOSING_MS)
    }
    setImmediate(guarded('connection', () => this.destroy(), end))
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
    const answered = (): void => {
      this.#isPinging = false
      for (const done of waiting) attempt(done, this.#failed)
      this.#ping()
    }
    this.#isPinging = true
    if (this.#http2.destroyed) answered()
    else attempt(() => this.#http2.ping(answered), answered)
  }

  /** Ends it at once. */
  destroy(): void {
    this.#socket.destroy()
  }
}
