import { type JsonObject, parseBody } from '../wire/json.ts'
import type { Message } from '../wire/message-reader.ts'
import type { Asks } from './asks.ts'
import type { ClientFacts } from './client-connection.ts'
import { clientFactsOf } from './client-facts.ts'
import type { ClientSession } from './client-session.ts'
import type { ConnectionBook } from './connection-book.ts'
import type { Outlet } from './outlet.ts'
import { StreamConnection } from './stream-connection.ts'

/** Dependencies of client streams. */
export interface ClientStreamsParts {
  readonly book: ConnectionBook
  readonly asks: Asks
  readonly monotonicMs: () => number
  /** The abilities of this server, as clients name them: `fuzzyWatch`. */
  readonly abilities: readonly string[]
  /** Whether the connection of this client may be set up now. */
  readonly isOpen: (client: ClientFacts) => boolean
}

/** The streams on which clients set their connections up, are asked, and reply. */
export class ClientStreams {
  readonly #parts: ClientStreamsParts

  constructor(parts: ClientStreamsParts) {
    this.#parts = parts
  }

  /** Begins with a stream. Its first message sets the connection up; where it does not, the stream ends. */
  open(outlet: Outlet, session: ClientSession): { received(message: Message): void; ended(): void } {
    let connection: StreamConnection | undefined
    let isOver = false
    return {
      received: (message) => {
        if (isOver) return
        if (connection !== undefined) return this.#replied(connection, message)
        connection = this.#setUp(message, session, outlet)
        isOver = connection === undefined
        if (isOver) outlet.end()
      },
      ended: () => connection?.end('left'),
    }
  }

  /** The connection; undefined where the message is no setup, and for a second stream: a session has one connection. */
  #setUp(message: Message, session: ClientSession, outlet: Outlet): StreamConnection | undefined {
    const { book, asks, monotonicMs, abilities, isOpen } = this.#parts
    const setup = message.type === 'ConnectionSetupRequest' ? readBody(message) : undefined
    if (setup === undefined || book.of(session.id) !== undefined) return undefined
    const client = clientFactsOf(setup, message.clientIp)
    if (!isOpen(client)) {
      session.close()
      return undefined
    }
    const connection = new StreamConnection({ session, client, outlet, asks, nowMs: monotonicMs() })
    book.add(connection)
    if (client.abilities !== undefined) {
      const abilityTable = Object.fromEntries(abilities.map((name) => [name, true]))
      connection.send('SetupAckRequest', {}, { abilityTable })
    }
    return connection
  }

  /** Any message on the stream is a reply, of a type that its client chooses. */
  #replied(connection: StreamConnection, message: Message): void {
    const body = readBody(message)
    if (body === undefined) return
    connection.heardMs = this.#parts.monotonicMs()
    const { requestId, resultCode } = body
    if (typeof requestId === 'string') connection.replied(requestId, resultCode)
  }
}

/** The body of a message; undefined where it cannot be read. */
function readBody({ body }: Message): JsonObject | undefined {
  try {
    return parseBody(body)
  } catch {
    return undefined
  }
}
