import type { ConnectionInstanceOperations } from '../../../operations/connection-instances.ts'
import type { Call } from '../requests/request-type.ts'
import type { ClientConnection } from '../connections/client-connection.ts'

/** By then a client that was moved has registered elsewhere, ms. */
const MOVED_MS = 35_000

/** What the ends of connections need of the server. */
export interface PublishingConnectionParts {
  readonly release: ConnectionInstanceOperations['release']
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The connections that publish instances. What one has published goes when it ends. */
export class PublishingConnections {
  readonly #parts: PublishingConnectionParts
  readonly #known = new WeakSet<ClientConnection>()

  constructor(parts: PublishingConnectionParts) {
    this.#parts = parts
  }

  /** The id of the connection that calls, which is going to publish. */
  idOf({ connection, caller }: Call): string {
    if (this.#known.has(connection)) return connection.id
    this.#known.add(connection)
    const { release, after } = this.#parts
    const { id: connectionId } = connection
    connection.onEnd((why) => {
      switch (why) {
        case 'left':
          return release({ connectionId }, caller)
        case 'moved':
          return after(MOVED_MS, () => release({ connectionId }, caller))
        case 'stopping':
        // They stay to be seen until their clients have registered again.
      }
    })
    return connectionId
  }
}
