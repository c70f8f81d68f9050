import { guarded, nothing } from '../../../core/unexpected.ts'
import type { Socket } from 'node:net'
import { answerTooSlow } from '../errors/client-error.ts'
import { plainAddress } from '../../sockets/plain-address.ts'
import type { Connections } from './connections.ts'
import type { HttpLog } from './exchange-context.ts'

/** How long clients may take. */
export interface SlownessSettings {
  /** The longest that a client may take to send a request; held polls are not limited by it. */
  readonly requestTimeoutMs: number
  /** Bytes of answers that a client may leave unread for longer than `unreadTimeoutMs`. */
  readonly maxUnreadBytes: number
  readonly unreadTimeoutMs: number
}

interface Unread {
  /** Bytes whose sending was finished when this was noted. */
  readonly sent: number
  readonly sinceMs: number
}

/**
 * Cuts the connections of clients that send or read too slowly. All connections are looked at each time. Node's own
 * request timeout is not used: it works for a server that listens itself (decision 0024).
 */
export class SlowClients {
  readonly #connections: Connections
  readonly #settings: SlownessSettings
  readonly #log: Pick<HttpLog, 'warn'>
  readonly #onTooSlow: () => void
  /** Connections that had too much to read when they were last looked at. */
  readonly #unread = new WeakMap<Socket, Unread>()

  constructor({ connections, settings, log, onTooSlow }: SlowClientsParts) {
    this.#connections = connections
    this.#settings = settings
    this.#log = log
    this.#onTooSlow = onTooSlow
  }

  /** Looks at the connections from now on, until the answer is called. */
  watch(): () => void {
    const { requestTimeoutMs, unreadTimeoutMs } = this.#settings
    const looks = [
      setInterval(
        guarded('job', nothing, () => this.#cutSlowSenders(performance.now())),
        intervalMs(requestTimeoutMs / 2),
      ),
      setInterval(
        guarded('job', nothing, () => this.#cutSlowReaders(performance.now())),
        intervalMs(unreadTimeoutMs / 4),
      ),
    ]
    for (const look of looks) look.unref()
    return () => looks.forEach((look) => clearInterval(look))
  }

  #cutSlowSenders(nowMs: number): void {
    for (const connection of this.#connections) {
      const isEnding = !connection.socket.writable
      if (isEnding || !connection.isTooSlow(nowMs, this.#settings.requestTimeoutMs)) continue
      this.#onTooSlow()
      answerTooSlow(connection.socket, connection.isAnswering)
    }
  }

  /** Cuts clients that have left too much unread for too long, without taking a whole answer meanwhile. */
  #cutSlowReaders(nowMs: number): void {
    for (const { socket } of this.#connections) this.#cutSlowReader(socket, nowMs)
  }

  #cutSlowReader(socket: Socket, nowMs: number): void {
    const { maxUnreadBytes, unreadTimeoutMs } = this.#settings
    if (socket.writableLength <= maxUnreadBytes) return void this.#unread.delete(socket)
    const sent = socket.bytesWritten - socket.writableLength
    const known = this.#unread.get(socket)
    if (known?.sent !== sent) this.#unread.set(socket, { sent, sinceMs: nowMs })
    else if (nowMs - known.sinceMs > unreadTimeoutMs) this.#cut(socket)
  }

  #cut(socket: Socket): void {
    this.#log.warn(
      { address: plainAddress(socket.remoteAddress), unreadBytes: socket.writableLength },
      'a client did not read its answer within unread-timeout and was cut',
    )
    this.#connections.cut++
    socket.destroy()
  }
}

/** Dependencies of SlowClients. */
export interface SlowClientsParts {
  readonly connections: Connections
  readonly settings: SlownessSettings
  readonly log: Pick<HttpLog, 'warn'>
  /** Called for each client that sends too slowly. */
  readonly onTooSlow: () => void
}

/** How often to look, for a given precision. */
function intervalMs(precisionMs: number): number {
  return Math.max(100, Math.min(5_000, precisionMs))
}
