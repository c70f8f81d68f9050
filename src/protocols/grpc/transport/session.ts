import type { Socket } from 'node:net'
import { type Due, NOT_DUE } from '../../../core/work/due-book.ts'
import { ownText } from '../../../core/text/own-text.ts'
import { contained, guarded, nothing } from '../../../core/unexpected.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import { type CertificateUser, certificateUserOf } from '../../sockets/secure-layer.ts'
import type { ClientSession } from '../connections/client-session.ts'
import type { CallHead, CallStream } from './call-stream.ts'

/** How long a session that is being closed may take to send what was given to it. */
export const CLOSING_MS = 500

/** How long a client may take to leave once it has said so. */
const LEAVING_MS = 10_000

/** A session of HTTP/2 on its TCP connection. */
export abstract class ConnectionSession implements ClientSession, Due {
  dueTick = NOT_DUE
  isKnown = false
  readonly id: string
  readonly ip: string
  readonly port: number
  readonly certificateUser: CertificateUser | undefined
  /** It gives plain bytes: with TLS it is the one that decrypts. */
  protected readonly socket: Socket
  #unread: (() => void)[] = []
  #isPinging = false
  #late: NodeJS.Timeout | undefined

  /** `openedMs` is in epoch ms. */
  constructor(socket: Socket, openedMs: number) {
    this.socket = socket
    // An error of a session or its socket ends it.
    socket.on('error', nothing)
    this.ip = plainAddress(socket.remoteAddress)
    this.port = socket.remotePort ?? 0
    this.id = ownText(`${openedMs}_${this.ip}_${this.port}`)
    this.certificateUser = certificateUserOf(socket)
  }

  /** Calls back when it has ended. */
  abstract onClose(closed: () => void): void
  /** Calls back for each stream that the client opens. */
  abstract onStream(opened: (stream: CallStream, head: CallHead) => void): void
  /** Ends it: answers that were given to it are sent first. */
  abstract close(): void
  /** Asks the client for an answer, which comes after what was sent before is read. Calls back also where the session has ended. */
  protected abstract ping(answered: () => void): void

  /** Ends calls that are late. Call it about once a second. */
  sweep(_nowMs: number): void {
    // Node has timers.
  }

  /** Ends it at once. */
  destroy(): void {
    this.socket.destroy()
  }

  /** Calls back once the client has read all that has left its streams, or the session has ended. */
  whenRead(done: () => void): void {
    this.#unread.push(done)
    if (!this.#isPinging) this.#ping()
  }

  /** One ping asks for all that have waited for the one before. */
  #ping(): void {
    const waiting = this.#unread.splice(0)
    if (waiting.length === 0) return
    this.#isPinging = true
    this.ping(
      this.guard(() => {
        this.#isPinging = false
        for (const done of waiting) contained('connection', () => this.destroy(), done)
        this.#ping()
      }),
    )
  }

  /** The client has said that it leaves. */
  leaving(): void {
    if (this.#late === undefined) this.endIn(LEAVING_MS)
  }

  /** Ends a client that neither ends its calls nor closes its side, also where it does not read any more. */
  protected endIn(milliseconds: number): void {
    if (this.#late === undefined)
      this.socket.on(
        'close',
        guarded('connection', nothing, () => clearTimeout(this.#late)),
      )
    clearTimeout(this.#late)
    this.#late = setTimeout(
      guarded('connection', nothing, () => this.destroy()),
      milliseconds,
    )
  }

  protected guard<Args extends unknown[]>(run: (...args: Args) => void): (...args: Args) => void {
    return guarded('connection', () => this.destroy(), run)
  }
}
