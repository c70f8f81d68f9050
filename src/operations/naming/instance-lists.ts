import { turnOf } from '../../core/access/turn-of.ts'
import { refuseDamagedService } from '../../core/naming/state/damaged-service.ts'
import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { StreamClient } from '../../core/clients/stream-client.ts'
import type { SentText } from '../../core/text/long-text.ts'
import { ownText } from '../../core/text/own-text.ts'
import { Refusal } from '../../core/refusal.ts'
import type { State } from '../../core/engine/state.ts'
import { afterwards } from '../afterwards.ts'
import type { Guard, Resource } from '../guard.ts'
import { acceptsPush } from './push-agents.ts'
import { READ_SERVICE, serviceResource } from './services.ts'
import type { Caller } from '../authorisation.ts'

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

/** The requested list, and the consumer. */
export interface ListRequest extends StreamListRequest {
  /** The subscriber of changes, if any. */
  readonly subscriber: ListSubscriber | undefined
  /** The client that reads it, shown to people; undefined: not recorded. */
  readonly reader: ListReader | undefined
}

/** A client that reads a list. */
export type ListReader = Pick<ListSubscriber, 'address' | 'agent' | 'app'>

/** Remembers for a while which clients have read which list. */
export interface Readers {
  note(key: ServiceKey, reader: ListReader): void
}

/** A client that listens for pushes. */
export interface ListSubscriber {
  /** The address of its socket: one that a client names could be somebody else's. */
  readonly address: string
  readonly port: number
  /** How its library names itself. */
  readonly agent: string
  readonly app: string
}

/** A list to write. */
export interface ListToWrite extends StreamListRequest {
  /** How long the client may keep the list, ms. */
  readonly cacheMillis: number
}

/** Writes lists for a protocol, and keeps them while they are in use. */
export interface ListWriter {
  /** The list; a long one comes later. Undefined if it is longer than may be answered in its format. */
  answer(query: ListToWrite): SentText | undefined | Promise<SentText | undefined>
}

/** The subscription of a client to a service. */
export interface PushSubscription extends ListSubscriber {
  /** As the client spelled it: its pushes repeat that. */
  readonly clusters: string
  readonly format: string
  readonly namespaceId: string
  readonly groupedName: string
  readonly consumerIp: string
  /** Whether the client may still read the service; undefined: everybody may. */
  readonly isAllowed: (() => boolean) | undefined
}

/** Sends changes of services to subscribers. */
export interface Pushes {
  /** Whether the client gets changes, so that it may cache the list for longer. */
  subscribe(subscription: PushSubscription): boolean
}

interface ListParts {
  readonly guard: Guard
  readonly state: Pick<State, 'switches' | 'record'>
  readonly lists: ListWriter
}

/** Makes the hot read of service discovery. */
export function listOperations(parts: ListParts & { readonly pushes: Pushes; readonly readers: Readers }) {
  const { guard, state, lists, pushes, readers } = parts
  return {
    /** The list of a service, empty if the service does not exist. Adds the subscriber, if any. */
    list: guard.operation({
      permission: READ_SERVICE,
      resources: ({ key }: ListRequest) => [serviceResource(key)],
      run: (request, caller) => {
        const { key, format, clustersText, clusters, healthyOnly, consumerIp, subscriber, reader } = request
        refuseDamagedService(state, key)
        const { switches } = state
        const isPushed =
          subscriber !== undefined &&
          acceptsPush(subscriber.agent, switches) &&
          pushes.subscribe(subscriptionOf(request, subscriber, guard.later(caller, 'read')))
        if (!isPushed && reader !== undefined) readers.note(key, reader)
        const cacheMillis = isPushed ? switches.defaultPushCacheMillis : switches.defaultCacheMillis
        const list = { key, format, clustersText, clusters, healthyOnly, consumerIp, cacheMillis }
        return writtenList(lists, list)
      },
    }),
  }
}

/** A list, or Refusal `too-large`. */
function writtenList(lists: ListWriter, list: ListToWrite): SentText | Promise<SentText> {
  return afterwards(lists.answer(list), (text) => {
    if (text !== undefined) return text
    const allowed = 'a list of at most 10 MiB over gRPC, and of 512 MiB over HTTP'
    throw new Refusal('too-large', 'The list is too long: ask for fewer clusters of the service.', {
      allowed,
    })
  })
}

/** With texts of its own: pieces of a request would keep its whole target in memory, which may be much longer. */
function subscriptionOf(
  request: ListRequest,
  { address, port, ...named }: ListSubscriber,
  mayRead: ((resource: Resource) => boolean) | undefined,
): PushSubscription {
  const { format } = request
  const [agent, app] = [ownText(named.agent), ownText(named.app)]
  const [clusters, consumerIp] = [ownText(request.clustersText), ownText(request.consumerIp)]
  const key = { namespaceId: ownText(request.key.namespaceId), groupedName: ownText(request.key.groupedName) }
  const isAllowed = mayRead === undefined ? undefined : () => mayRead(serviceResource(key))
  return { address, port, agent, app, clusters, format, ...key, consumerIp, isAllowed }
}

interface SubscriptionParts extends ListParts {
  readonly streams: Streams
}

/** A subscription to the changes of a list, or its end. */
interface StreamSubscriptionRequest extends StreamListRequest {
  readonly subscriber: StreamClient
}

interface ListSubscription {
  readonly client: StreamClient
  /** The user, or the network of a client without one. */
  readonly owner?: string
  readonly key: ServiceKey
  readonly clusters: string
}

/** Sends changes of services to clients with a connection. */
interface Streams {
  /** Throws Refusal `too-many-subscriptions` where a limit is reached. */
  subscribe(subscription: ListSubscription & { readonly isAllowed: (() => boolean) | undefined }): void
  unsubscribe(subscription: ListSubscription): void
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
      run: (request: StreamListRequest) => {
        refuseDamagedService(parts.state, request.key)
        return listOf(parts, request)
      },
    }),
    /** From now on the subscriber gets each change. A service that does not exist yet is an empty list. */
    subscribe: guard.operation({
      permission,
      resources,
      run: (request: StreamSubscriptionRequest, caller) => {
        const { key, clustersText: clusters, subscriber: client } = request
        refuseDamagedService(parts.state, key)
        streams.subscribe({
          client,
          owner: turnOf(caller),
          key,
          clusters,
          isAllowed: mayRead(guard, key, caller),
        })
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
