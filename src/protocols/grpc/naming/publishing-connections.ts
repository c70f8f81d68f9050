import type { Operations } from '../../../operations/operations.ts'
import type { RequestContext } from '../requests/request-type.ts'
import type { ClientConnection } from '../connections/client-connection.ts'

/**
 * The Java library signs in again at the earliest a minute after it has done so before. Then it takes some seconds to
 * do it, to connect and to register.
 */
const SIGNS_IN_SLOWLY = /^Nacos-Java-Client/
const SIGN_IN_MS = 80_000

/** The connections that publish instances. The instances of a connection go when it ends. */
export class PublishingConnections {
  readonly #release: Operations['connectionInstances']['release']
  readonly #known = new WeakSet<ClientConnection>()

  constructor(release: Operations['connectionInstances']['release']) {
    this.#release = release
  }

  /** The id of the connection that calls, which is going to publish. */
  idOf({ connection, caller }: RequestContext): string {
    if (this.#known.has(connection)) return connection.id
    this.#known.add(connection)
    const { id: connectionId, beganMs } = connection
    connection.onEnd((why) => {
      switch (why) {
        case 'left':
          return this.#release({ connectionId, comesBack: false, beganMs }, caller)
        case 'moved':
          return this.#release({ connectionId, comesBack: true }, caller)
        case 'signed-out':
          return this.#release({ connectionId, comesBack: true, returnsByMs: returnOf(connection) }, caller)
        case 'stopping':
        // They stay to be seen until their clients have registered again.
      }
    })
    return connectionId
  }
}

function returnOf({ client, signedInMs }: ClientConnection): number | undefined {
  return SIGNS_IN_SLOWLY.test(client.version) ? signedInMs + SIGN_IN_MS : undefined
}
