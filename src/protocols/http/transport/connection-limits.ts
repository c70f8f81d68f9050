import type { Socket } from 'node:net'
import type { HttpLog } from './exchange-context.ts'
import { endWith, type Reason } from '../errors/client-error.ts'
import { plainAddress } from './client-address.ts'

/** How many connections there may be, and what they may leave unread. */
export interface ConnectionSettings {
  readonly maxConnections: number
  /** 0: no limit. */
  readonly maxConnectionsPerAddress: number
  readonly maxUnreadBytes: number
  readonly unreadTimeoutMs: number
}

/** How often unread answers are looked for, where they may wait so long: all connections are looked at. */
export function unreadCheckMs(unreadTimeoutMs: number): number {
  return Math.max(100, Math.min(5_000, unreadTimeoutMs / 4))
}

/** Refused connections come in thousands; one line a minute tells of them. */
const LOG_EVERY_MS = 60_000

/**
 * Beyond the limit a connection is told why before it ends; so many at most are told at a time, and further ones are
 * closed by node without a word.
 */
const MOST_TOLD = 256

const TOO_MANY: Reason = {
  code: 'too-many-connections',
  status: 503,
  title: 'Service Unavailable',
  detail: 'The server has as many connections as it may: try again in a moment.',
}

interface Waiting {
  /** Bytes whose sending was finished when this was noted. */
  sent: number
  sinceMs: number
}

/** The open connections of a server, within limits. */
export class Connections {
  readonly sockets = new Set<Socket>()
  readonly #settings: ConnectionSettings
  readonly #log: Pick<HttpLog, 'warn'>
  readonly #ofAddress = new Map<string, number>()
  /** Connections that had too much to read when they were last looked at. */
  readonly #waiting = new Map<Socket, Waiting>()
  /** Since the start: connections that were refused, and those cut because their client did not read. */
  readonly counts = { refused: 0, cut: 0 }
  #loggedMs = -Infinity

  constructor(settings: ConnectionSettings, log: Pick<HttpLog, 'warn'>) {
    this.#settings = settings
    this.#log = log
  }

  /** What node itself lets in. */
  get hardLimit(): number {
    return this.#settings.maxConnections + MOST_TOLD
  }

  /** Takes a connection in; false where it was told that there are too many. */
  admit(socket: Socket): boolean {
    const { maxConnections, maxConnectionsPerAddress } = this.#settings
    if (this.sockets.size >= maxConnections) return this.#refuse(socket)
    if (maxConnectionsPerAddress > 0 && !this.#countAddress(socket)) return this.#refuse(socket)
    this.sockets.add(socket)
    socket.on('close', () => this.#forget(socket))
    return true
  }

  /**
   * Cuts the connections that have had more than `maxUnreadBytes` to read for longer than `unreadTimeoutMs`
   * without having taken a whole answer meanwhile. To be called every `unreadCheckMs`.
   */
  cutSlowReaders(nowMs: number): void {
    const { maxUnreadBytes, unreadTimeoutMs } = this.#settings
    for (const socket of this.sockets) {
      if (socket.writableLength <= maxUnreadBytes) {
        if (this.#waiting.size > 0) this.#waiting.delete(socket)
        continue
      }
      const sent = socket.bytesWritten - socket.writableLength
      const known = this.#waiting.get(socket)
      if (known?.sent !== sent) this.#waiting.set(socket, { sent, sinceMs: nowMs })
      else if (nowMs - known.sinceMs > unreadTimeoutMs) this.#cut(socket)
    }
  }

  #countAddress(socket: Socket): boolean {
    const address = plainAddress(socket.remoteAddress)
    const count = this.#ofAddress.get(address) ?? 0
    if (count >= this.#settings.maxConnectionsPerAddress) return false
    this.#ofAddress.set(address, count + 1)
    socket.on('close', () => {
      const left = (this.#ofAddress.get(address) ?? 1) - 1
      if (left === 0) this.#ofAddress.delete(address)
      else this.#ofAddress.set(address, left)
    })
    return true
  }

  #forget(socket: Socket): void {
    this.sockets.delete(socket)
    this.#waiting.delete(socket)
  }

  #refuse(socket: Socket): false {
    this.counts.refused++
    this.#tell('connections were refused: raise max-connections, or find out who opens so many')
    socket.on('error', () => undefined)
    endWith(socket, TOO_MANY)
    socket.resume()
    return false
  }

  #cut(socket: Socket): void {
    this.#log.warn(
      { address: plainAddress(socket.remoteAddress), unreadBytes: socket.writableLength },
      'a client did not read its answer within unread-timeout and was cut',
    )
    this.counts.cut++
    socket.destroy()
  }

  #tell(what: string): void {
    const nowMs = performance.now()
    if (nowMs - this.#loggedMs < LOG_EVERY_MS) return
    this.#loggedMs = nowMs
    this.#log.warn({ refusedSoFar: this.counts.refused, open: this.sockets.size }, what)
  }
}
