import type { ConnectionInstanceOperations } from '../../../operations/connection-instances.ts'
import type { Call } from '../requests/request-type.ts'
import type { ClientConnection } from '../connections/client-connection.ts'

/** The connections that publish instances. What one has published goes when it ends. */
export class PublishingConnections {
  readonly #release: ConnectionInstanceOperations['release']
  readonly #known = new WeakSet<ClientConnection>()

  constructor(release: ConnectionInstanceOperations['release']) {
    this.#release = release
  }

  /** The id of the connection that calls, which is going to publish. */
  idOf({ connection, caller }: Call): string {
    if (this.#known.has(connection)) return connection.id
    this.#known.add(connection)
    const { id: connectionId } = connection
    connection.onEnd((why) => {
      switch (why) {
        case 'left':
          return this.#release({ connectionId, comesBack: false }, caller)
        case 'moved':
        case 'signed-out':
          return this.#release({ connectionId, comesBack: true }, caller)
        case 'stopping':
        // They stay to be seen until their clients have registered again.
      }
    })
    return connectionId
  }
}
