import type { Operations } from '../../../operations/operations.ts'
import type { WatchedItem } from '../../../core/config/state/config-view.ts'
import { type RequestContext, requestType } from '../requests/request-type.ts'
import { connectedViewer } from './connected-viewer.ts'
import { keysOf, listenedItems, namesOf } from './listened-item.ts'
import { ListeningConnections, type ListeningConnectionParts } from './listening-connections.ts'

/** Dependencies of listening. */
export interface BatchListenParts extends ListeningConnectionParts {
  readonly listening: Pick<Operations['listening'], 'joinStream' | 'watch' | 'unwatch'>
  readonly maxListeningItems: number
}

/** `ConfigBatchListenRequest`: begins or ends listening to items; answers the items that differ from the client's. */
export function batchListen(parts: BatchListenParts) {
  const { listening, maxListeningItems } = parts
  const connections = new ListeningConnections(parts)
  return requestType({
    type: 'ConfigBatchListenRequest',
    answer: 'ConfigChangeBatchListenResponse',
    permission: listening.watch.permission,
    read: ({ listen, configListenContexts }) => {
      const items = listenedItems(configListenContexts, maxListeningItems)
      return { isListening: listen !== false && listen !== 'false', items }
    },
    run: ({ isListening, items }, call) => {
      if (isListening) return { changedConfigs: listenTo(items, call).map(namesOf) }
      unlisten(items, call)
      return { changedConfigs: [] }
    },
  })

  function listenTo(items: readonly WatchedItem[], call: RequestContext): readonly WatchedItem[] {
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
