import type { Operations } from '../../../operations/operations.ts'
import type { StreamWatch } from '../../../operations/config/config-streams.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import type { RequestContext } from '../requests/request-type.ts'
import { ChangePushes } from './change-pushes.ts'
import { viewerOfConnection } from './connected-viewer.ts'

/** What listening connections need of the server. */
export interface ListeningConnectionParts {
  readonly listening: Pick<Operations['listening'], 'joinStream'>
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The items that a connection listens to, and their pushes. */
export interface ListeningConnection {
  readonly watch: StreamWatch
  readonly pushes: ChangePushes
}

/** The connections that listen to configurations. Each leaves when it ends. */
export class ListeningConnections {
  readonly #parts: ListeningConnectionParts
  readonly #known = new WeakMap<ClientConnection, ListeningConnection>()

  constructor(parts: ListeningConnectionParts) {
    this.#parts = parts
  }

  /** Undefined where the connection has never listened. */
  known(connection: ClientConnection): ListeningConnection | undefined {
    return this.#known.get(connection)
  }

  /** The listening of the connection that calls. */
  of(call: RequestContext): ListeningConnection {
    const known = this.#known.get(call.connection)
    if (known !== undefined) return known
    const joined = this.#join(call)
    this.#known.set(call.connection, joined)
    return joined
  }

  #join({ connection, caller }: RequestContext): ListeningConnection {
    const pushes = new ChangePushes({
      connection,
      after: this.#parts.after,
      unheard: ({ key }) => watch.remove(key),
    })
    const { ip, port, client } = connection
    const listener = {
      ip,
      who: viewerOfConnection(connection),
      client: { port, agent: client.version },
      changed: pushes.changed.bind(pushes),
      end: () => connection.close(),
    }
    const watch = this.#parts.listening.joinStream(listener, caller)
    connection.onEnd(() => {
      watch.leave()
      pushes.end()
    })
    return { watch, pushes }
  }
}
