import type { Operations } from '../../../operations/operations.ts'
import type { EndOfWatch } from '../../../core/clients/stream-client.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import { type RequestContext, requestType } from '../requests/request-type.ts'
import { connectedViewer, viewerOfConnection } from './connected-viewer.ts'
import { keysOf, listenedItems, namesOf } from './listened-item.ts'
import type { ConfigStreamListener, StreamWatch } from '../../../operations/config/config-streams.ts'
import type { Viewer } from '../../../core/config/state/viewer.ts'
import type { ClientConnection } from '../connections/client-connection.ts'
import { ChangePushes } from './change-pushes.ts'

/** Dependencies of listening connections. */
export interface ListeningConnectionParts {
  readonly listening: Pick<Operations['listening'], 'joinStream'>
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The items that a connection listens to, and the pushes of their changes. */
class ListeningConnection implements ConfigStreamListener {
  readonly watch: StreamWatch
  readonly who: Viewer
  readonly client: ConfigStreamListener['client']
  readonly #connection: ClientConnection
  readonly #after: ListeningConnectionParts['after']
  /** Most connections listen for hours to items that do not change. */
  #pushes: ChangePushes | undefined

  constructor({ connection, caller }: RequestContext, { listening, after }: ListeningConnectionParts) {
    this.#connection = connection
    this.#after = after
    this.who = viewerOfConnection(connection)
    this.client = { port: connection.port, agent: connection.client.version }
    this.watch = listening.joinStream(this, caller)
    connection.onEnd(() => {
      this.watch.leave()
      this.#pushes?.end()
    })
  }

  get ip(): string {
    return this.#connection.ip
  }

  get heardMs(): number {
    return this.#connection.heardMs
  }

  changed(item: WatchedItem): void {
    this.#pushes ??= new ChangePushes({
      connection: this.#connection,
      after: this.#after,
      unheard: ({ key }) => this.watch.remove(key),
    })
    this.#pushes.changed(item)
  }

  /** The client has reported its version of this item, or does not listen to it any longer. */
  forget(keyText: string): void {
    this.#pushes?.forget(keyText)
  }

  end(why: EndOfWatch): void {
    if (why === 'gave-way') this.#connection.giveWay()
    else this.#connection.close()
  }
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
    const joined = new ListeningConnection(call, this.#parts)
    this.#known.set(call.connection, joined)
    return joined
  }
}

/** Dependencies of listening. */
export interface BatchListenParts {
  readonly listening: Pick<Operations['listening'], 'watch' | 'unwatch'>
  readonly connections: ListeningConnections
  readonly maxListeningItems: number
}

/** `ConfigBatchListenRequest`: begins or ends listening to items; answers the items that differ from the client's. */
export function batchListen({ listening, connections, maxListeningItems }: BatchListenParts) {
  return requestType({
    type: 'ConfigBatchListenRequest',
    answer: 'ConfigChangeBatchListenResponse',
    permission: listening.watch.permission,
    read: ({ listen, configListenContexts }) => {
      const items = listenedItems(configListenContexts, maxListeningItems)
      return { isListening: listen !== false && listen !== 'false', items }
    },
    run: ({ isListening, items }, call) => {
      if (isListening)
        return afterwards(listenTo(items, call), (changed) => ({ changedConfigs: changed.map(namesOf) }))
      unlisten(items, call)
      return { changedConfigs: [] }
    },
  })

  function listenTo(items: readonly WatchedItem[], call: RequestContext) {
    const known = connections.of(call)
    const changed = listening.watch({ watch: known.watch, items, who: connectedViewer(call) }, call.caller)
    for (const { key } of items) known.forget(key.text)
    return changed
  }

  function unlisten(items: readonly WatchedItem[], { connection, caller }: RequestContext): void {
    const known = connections.known(connection)
    if (known === undefined) return
    listening.unwatch({ watch: known.watch, keys: keysOf(items) }, caller)
    for (const { key } of items) known.forget(key.text)
  }
}
