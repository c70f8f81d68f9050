import { DueBook } from '../../../core/work/due-book.ts'
import { unawaited } from '../../../core/unexpected.ts'
import type { EndCause, EndReason } from './client-connection.ts'
import type { StreamConnection } from './stream-connection.ts'

/** After `SILENT_MS` of silence a client is asked whether it is there. It has `REPLY_MS` to reply. */
export const SILENT_MS = 20_000
export const REPLY_MS = 3_000

const BUCKET_MS = 500

/** The connections of this server that are set up, by the ids of their sessions. */
export class ConnectionBook {
  /** Connections that have ended since the start, by cause. */
  readonly ended: Record<EndCause, number> = {
    left: 0,
    silent: 0,
    unread: 0,
    closed: 0,
    moved: 0,
    'signed-out': 0,
    stopping: 0,
  }
  readonly #byId = new Map<string, StreamConnection>()
  /** When each is to be checked: 20 s after its last message, as known at the last check. */
  readonly #due = new DueBook<StreamConnection>(BUCKET_MS)

  get size(): number {
    return this.#byId.size
  }

  /** The connection of a session; undefined before its setup and after its end. */
  of(sessionId: string): StreamConnection | undefined {
    return this.#byId.get(sessionId)
  }

  [Symbol.iterator](): Iterator<StreamConnection> {
    return this.#byId.values()
  }

  /** Adds a connection until it ends. */
  add(connection: StreamConnection): void {
    this.#byId.set(connection.id, connection)
    this.#due.add(connection, connection.heardMs + SILENT_MS)
    connection.onEnd(this.#left)
  }

  /** One for all connections: a callback for each takes a tenth of a kilobyte. */
  readonly #left = (_why: EndReason, connection: StreamConnection): void => {
    this.ended[connection.endedBy ?? 'left']++
    this.#byId.delete(connection.id)
    this.#due.remove(connection)
  }

  /** Asks connections that have been silent for long, and ends the ones that do not reply. */
  tick(nowMs: number): void {
    for (const connection of this.#due.due(nowMs)) {
      const silentMs = nowMs - connection.heardMs
      if (silentMs < SILENT_MS) this.#due.add(connection, connection.heardMs + SILENT_MS)
      else unawaited('connection', () => connection.end('closed'), this.#detect(connection, nowMs))
    }
  }

  async #detect(connection: StreamConnection, askedMs: number): Promise<void> {
    const isThere = await connection.ask({ type: 'ClientDetectionRequest', body: {} }, REPLY_MS)
    if (connection.hasEnded) return
    // A request of the client says as much as a reply.
    if (isThere || connection.heardMs > askedMs)
      return this.#due.add(connection, connection.heardMs + SILENT_MS)
    connection.end('silent')
  }
}
