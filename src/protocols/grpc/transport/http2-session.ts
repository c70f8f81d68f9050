import type { ServerHttp2Session } from 'node:http2'
import type { Socket } from 'node:net'
import { type Due, NOT_DUE } from '../../../core/due-book.ts'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-session.ts'

/** How long a session that is being closed may take to send what was given to it. */
const CLOSING_MS = 500

/** A session of HTTP/2 on its TCP connection. */
export class Http2Session implements ClientSession, Due {
  dueTick = NOT_DUE
  readonly id: string
  readonly ip: string
  readonly port: number
  readonly certificateUser: CertificateUser | undefined
  readonly #http2: ServerHttp2Session
  readonly #socket: Socket
  #unread: (() => void)[] = []
  #isPinging = false

  /** `socket` gives plain bytes: with TLS it is the one that decrypts. */
  constructor(http2: ServerHttp2Session, socket: Socket, openedMs: number) {
    this.#http2 = http2
    this.#socket = socket
    this.ip = plainAddress(socket.remoteAddress)
    this.port = socket.remotePort ?? 0
    this.id = `${openedMs}_${this.ip}_${this.port}`
    this.certificateUser = certificateUserOf(socket)
  }

  close(): void {
    if (this.#http2.destroyed || this.#http2.closed) return
    this.#http2.close()
    // The session itself would wait for a client that never closes its side.
    const late = setTimeout(
      guarded('connection', nothing, () => void this.#socket.destroy()),
      CLOSING_MS,
    )
    this.#socket.on(
      'close',
      guarded('connection', nothing, () => clearTimeout(late)),
    )
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
      for (const done of waiting) contained('request', nothing, done)
      this.#ping()
    }
    this.#isPinging = true
    if (this.#http2.destroyed) answered()
    else this.#http2.ping(guarded('connection', () => this.destroy(), answered))
  }

  /** Ends it at once. */
  destroy(): void {
    this.#socket.destroy()
  }
}
