import { guarded, nothing } from '../../../core/unexpected.ts'
import type { ConnectionBook } from './connection-book.ts'
import type { ServerAddress, StreamConnection } from './stream-connection.ts'

/** How long a client may take to connect elsewhere and leave: then its connection is ended. */
const MOVE_MS = 2_000

/**
 * The Java library does it, but takes a loss of the old connection meanwhile for another reason to move. It moves twice then, and
 * ends the connection on which it has just registered: lists lack its instances for up to 3 s. On a busy machine it needs seconds.
 */
const MOVES_SLOWLY = /^Nacos-Java-Client/
const SLOW_MOVE_MS = 5_000

/**
 * The Go library tries the given server for ever, and does not tell servers of one address apart. Without a server in
 * the message it stays, and chooses another server when its connection ends.
 */
const CHOOSES_ITSELF = /^Nacos-Go-Client/

/** Dependencies of moves. */
export interface MoveParts {
  readonly book: ConnectionBook
  /** The other servers that serve now. */
  readonly others: () => readonly ServerAddress[]
  readonly after: (ms: number, run: () => void) => void
}

/** Sends clients to other servers. */
export class Moves {
  readonly #parts: MoveParts
  #next = 0

  constructor(parts: MoveParts) {
    this.#parts = parts
  }

  /**
   * Sends a client to another server, or to this one again if it is the only one. Its connection ends after a while,
   * because not all clients obey; `why` is the cause of that end.
   */
  one(connection: StreamConnection, why: 'moved' | 'stopping' = 'moved'): void {
    const limitMs = MOVES_SLOWLY.test(connection.client.version) ? SLOW_MOVE_MS : MOVE_MS
    connection.sendAway(why, this.#another(connection), limitMs)
    const end = guarded('connection', nothing, () => connection.end(why))
    this.#parts.after(limitMs, end)
  }

  /** Sends all clients away because this server stops. Resolves when all connections have ended, soon. */
  async all(): Promise<void> {
    const { book, others } = this.#parts
    if (book.size > 0 && others().length > 0) {
      const gone = Array.from(
        book,
        (connection) => new Promise<void>((resolve) => connection.onEnd(() => resolve())),
      )
      for (const connection of book) this.one(connection, 'stopping')
      await Promise.all(gone)
    }
    for (const connection of book) connection.end('stopping')
  }

  /** The others in turn, so that they share the clients. */
  #another({ client }: StreamConnection): ServerAddress | undefined {
    if (CHOOSES_ITSELF.test(client.version)) return undefined
    const others = this.#parts.others()
    return others[this.#next++ % others.length]
  }
}
