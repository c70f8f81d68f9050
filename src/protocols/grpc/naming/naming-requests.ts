import type { Operations } from '../../../operations/operations.ts'
import { type AnyRequestType, type RequestContext, requestType } from '../requests/request-type.ts'
import { fuzzyServices } from '../fuzzy/fuzzy-watches.ts'
import { instanceRequests } from './instance-requests.ts'
import { toNamespaceId } from '../../../core/namespaces/namespace.ts'
import type { SentText } from '../../../core/text/long-text.ts'
import { serviceNameOf } from '../../../core/naming/state/service.ts'
import { afterwards } from '../../../operations/afterwards.ts'
import type { StreamListRequest } from '../../../operations/naming/instance-lists.ts'
import type { StreamClient } from '../../../core/clients/stream-client.ts'
import type { ListFormat } from '../../answers/list-format.ts'
import * as fields from '../../parameters/fields.ts'
import { splitClusters } from '../../parameters/grouped-name.ts'
import { parseServiceFilter } from '../../parameters/json-fields.ts'
import { Type } from '../../parameters/schema.ts'
import { ReadyJson } from '../wire/json.ts'
import { bodyReader, SERVICE_KEYS, serviceKeyOf } from './service-names.ts'
import type { ClientConnection } from '../connections/client-connection.ts'

/** Dependencies of the requests on services and instances. */
export interface NamingRequestParts {
  readonly operations: Operations
  readonly limits: { readonly maxInstanceMetadataBytes: number }
  /** Runs something later, and keeps no process alive for it. */
  readonly after: (ms: number, run: () => void) => void
}

/** The requests on services and instances (grpc-compat.md section 3). */
export function namingRequests(parts: NamingRequestParts): AnyRequestType[] {
  const { operations, after } = parts
  return [
    ...instanceRequests(parts),
    ...discoveryRequests(operations),
    fuzzyServices(operations.servicePatterns, after),
  ]
}

const FORMAT: ListFormat = 'grpc'

const clusters = fields.withDefault(fields.clusters, '')

const readQuery = bodyReader(
  Type.Object({
    ...SERVICE_KEYS,
    cluster: clusters,
    healthyOnly: fields.withDefault(fields.healthyOnly, false),
  }),
)

const readSubscription = bodyReader(
  Type.Object({
    ...SERVICE_KEYS,
    clusters,
    subscribe: fields.withDefault(Type.Boolean({ description: 'Whether it begins or ends.' }), true),
  }),
)

const readList = bodyReader(
  Type.Object({
    namespace: Type.Optional(fields.namespaceId),
    groupName: fields.groupNameOrDefault,
    pageNo: fields.withDefault(fields.pageNoOrZero, 1),
    pageSize: fields.withDefault(fields.pageSizeOrZero, 10),
    selector: Type.Optional(fields.selector),
  }),
)

/** The requests that read and watch services (grpc-compat.md section 3). */
function discoveryRequests(operations: Operations): AnyRequestType[] {
  return [query(operations), subscribe(operations), list(operations)]
}

function query({ subscriptions }: Pick<Operations, 'subscriptions'>): AnyRequestType {
  return requestType({
    type: 'ServiceQueryRequest',
    answer: 'QueryServiceResponse',
    permission: subscriptions.query.permission,
    read: (body, call) => {
      const { cluster, healthyOnly, ...named } = readQuery(body)
      return listRequest(call, { key: serviceKeyOf(named), clustersText: cluster, healthyOnly })
    },
    run: (request, { caller }) => afterwards(subscriptions.query(request, caller), withServiceInfo),
  })
}

function subscribe({ subscriptions }: Pick<Operations, 'subscriptions'>): AnyRequestType {
  const subscribers = new SubscribingConnections()
  return requestType({
    type: 'SubscribeServiceRequest',
    answer: 'SubscribeServiceResponse',
    permission: subscriptions.subscribe.permission,
    read: (body, call) => {
      const { clusters: clustersText, subscribe: begins, ...named } = readSubscription(body)
      const key = serviceKeyOf(named)
      return { begins, request: listRequest(call, { key, clustersText, healthyOnly: false }) }
    },
    run: ({ begins, request }, { connection, caller }) => {
      const operation = begins ? subscriptions.subscribe : subscriptions.unsubscribe
      const subscriber = subscribers.of(connection)
      return afterwards(operation({ ...request, subscriber }, caller), subscribed)
    },
  })
}

function list({ services }: Pick<Operations, 'services'>): AnyRequestType {
  return requestType({
    type: 'ServiceListRequest',
    answer: 'ServiceListResponse',
    permission: services.list.permission,
    read: (body) => {
      const { namespace, groupName: group, pageNo, pageSize, selector } = readList(body)
      const page = { pageNo: Math.max(pageNo, 1), pageSize }
      return { namespaceId: toNamespaceId(namespace), group, filter: parseServiceFilter(selector), page }
    },
    run: (request, { caller }) => {
      const { entries, totalCount } = services.list(request, caller)
      return { count: totalCount, serviceNames: entries.map(serviceNameOf) }
    },
  })
}

function listRequest(
  { connection }: RequestContext,
  asked: Pick<StreamListRequest, 'key' | 'clustersText' | 'healthyOnly'>,
): StreamListRequest {
  const consumerIp = connection.client.clientIp || connection.ip
  return { format: FORMAT, clusters: splitClusters(asked.clustersText), consumerIp, ...asked }
}

/** Java writes the message of a success in this answer alone. */
function subscribed(list: SentText): ReadyJson {
  return new ReadyJson('{"message":"success","serviceInfo":', list, '}')
}

/** The text of a list as the only key of a body. */
function withServiceInfo(list: SentText): ReadyJson {
  return new ReadyJson('{"serviceInfo":', list, '}')
}

/** Connections as subscribers of services. */
export class SubscribingConnections {
  readonly #known = new WeakMap<ClientConnection, StreamClient>()
  /** The list that was pushed last, and its body: most pushes are the same list for the next subscriber. */
  #list: SentText = ''
  #body = new ReadyJson('{}')

  /** The subscriber that a connection is. */
  of(connection: ClientConnection): StreamClient {
    const known = this.#known.get(connection)
    if (known !== undefined) return known
    const subscriber = this.#subscriberOf(connection)
    this.#known.set(connection, subscriber)
    return subscriber
  }

  #subscriberOf(connection: ClientConnection): StreamClient {
    const { id, ip, port, client } = connection
    return {
      id,
      address: ip,
      port,
      agent: client.version,
      app: client.appName || 'unknown',
      consumerIp: client.clientIp || ip,
      push: (list, limitMs) =>
        connection.ask({ type: 'NotifySubscriberRequest', body: this.#bodyOf(list) }, limitMs),
      end: (why) => (why === 'gave-way' ? connection.giveWay() : connection.close()),
      onEnd: (ended) => connection.onEnd(() => ended()),
    }
  }

  #bodyOf(list: SentText): ReadyJson {
    if (list !== this.#list) {
      this.#list = list
      // It is sent to all subscribers: its bytes are made once.
      const bytes = typeof list === 'string' ? Buffer.from(list) : list
      this.#body = new ReadyJson('{"serviceInfo":', bytes, '}')
    }
    return this.#body
  }
}
