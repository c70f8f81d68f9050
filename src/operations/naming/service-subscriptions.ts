import type { SentText } from '../../core/text/long-text.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard } from '../guard.ts'
import type { Caller } from '../authorisation.ts'
import { type ListWriter, writtenList } from './instance-lists.ts'
import { READ_SERVICE, serviceResource } from './services.ts'

interface SubscriptionParts {
  readonly guard: Guard
  readonly state: Pick<State, 'switches'>
  readonly lists: ListWriter
  readonly streams: Streams
}

/** A list for a client with a connection. */
export interface StreamListRequest {
  readonly key: ServiceKey
  /** How the list is written; known to the writer. */
  readonly format: string
  /** As the client spelled it: answers and pushes repeat it. */
  readonly clustersText: string
  /** The names in it; empty: all clusters. */
  readonly clusters: readonly string[]
  readonly healthyOnly: boolean
  /** The labels of this address are compared by a selector. */
  readonly consumerIp: string
}

/** A subscription to the changes of a list, or its end. */
export interface StreamSubscriptionRequest extends StreamListRequest {
  readonly subscriber: StreamSubscriber
}

/** A client that takes lists on its connection. */
export interface StreamSubscriber {
  /** The id of its connection; unique among open connections. */
  readonly id: string
  readonly address: string
  readonly port: number
  /** How its library names itself. */
  readonly agent: string
  readonly app: string
  /** The address that selectors go by. */
  readonly consumerIp: string
  /** Sends a list. Resolves with whether the client has acknowledged it in time. Never throws or rejects. */
  push(list: SentText, limitMs: number): Promise<boolean>
  /** Ends the connection: a push to it has failed by a fault of this server. */
  readonly end: () => void
  /** Calls back once when the connection has ended, or at once if it has ended already. */
  onEnd(ended: () => void): void
}

/** Sends changes of services to clients with a connection. */
export interface Streams {
  /** Throws Refusal `too-many-subscriptions` where a limit is reached. */
  subscribe(subscription: {
    readonly client: StreamSubscriber
    readonly key: ServiceKey
    readonly clusters: string
    readonly isAllowed: (() => boolean) | undefined
  }): void
  unsubscribe(subscription: {
    readonly client: StreamSubscriber
    readonly key: ServiceKey
    readonly clusters: string
  }): void
}

/** Makes the operations of clients that receive changes on a connection. Each answers the list as it is now. */
export function subscriptionOperations(parts: SubscriptionParts) {
  const { guard, streams } = parts
  const permission = READ_SERVICE
  const resources = ({ key }: StreamListRequest) => [serviceResource(key)]
  return {
    query: guard.operation({
      permission,
      resources,
      run: (request: StreamListRequest) => listOf(parts, request),
    }),
    /** From now on the subscriber gets each change. A service that does not exist yet is an empty list. */
    subscribe: guard.operation({
      permission,
      resources,
      run: (request: StreamSubscriptionRequest, caller) => {
        const { key, clustersText: clusters, subscriber: client } = request
        streams.subscribe({ client, key, clusters, isAllowed: mayRead(guard, key, caller) })
        return listOf(parts, request)
      },
    }),
    unsubscribe: guard.operation({
      permission,
      resources,
      run: (request: StreamSubscriptionRequest) => {
        const { key, clustersText: clusters, subscriber: client } = request
        streams.unsubscribe({ client, key, clusters })
        return listOf(parts, request)
      },
    }),
  }
}

function mayRead(guard: Guard, key: ServiceKey, caller: Caller): (() => boolean) | undefined {
  const judged = guard.whileConnected(caller, 'read')
  return judged === undefined ? undefined : () => judged(serviceResource(key))
}

/** cacheMillis is as long as for clients with pushes, in case a subscribed client polls anyway. */
function listOf({ lists, state }: SubscriptionParts, request: StreamListRequest) {
  const { key, format, clustersText, clusters, healthyOnly, consumerIp } = request
  const cacheMillis = state.switches.defaultPushCacheMillis
  const list = { key, format, clustersText, clusters, healthyOnly, consumerIp, cacheMillis }
  return writtenList(lists, list)
}
