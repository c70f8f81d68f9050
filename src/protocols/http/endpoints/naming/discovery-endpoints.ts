import { hostPort } from '../../../../core/text/ip-address.ts'
import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import { serviceNameOf } from '../../../../core/naming/state/service.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import type { ListedSubscriber } from '../../../../core/clients/client-views.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer, answersJson, Json, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import {
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
  type NamingDialect,
} from './naming-requests.ts'

const SUBSCRIBERS = Json.object({
  subscribers: Json.list(
    Json.named(
      'Subscriber',
      Json.object({
        addrStr: Json.string(),
        agent: Json.string(),
        app: Json.string(),
        ip: Json.string(),
        port: Json.integer(),
        namespaceId: Json.string(),
        serviceName: Json.string(),
        cluster: Json.string(),
        via: Json.words(
          ['udp', 'stream', 'poll'],
          'How it learns of changes: a poll reads the list, and has no port.',
        ),
      }),
    ),
  ),
  count: Json.integer(),
})

const NAMES = Json.object({
  services: Json.map(Json.list(Json.string())),
  count: Json.integer('How many namespaces there are.'),
})

/** Checkers as they are set: one has a field for a password. */
const CHECKER_DEFAULTS = Json.map(Json.anyOf(Json.string(), Json.integer()))

/** The subscribers of services, and the names of all services, as clients of `/nacos` ask for them. */
export function discoveryEndpoints(parts: NamingEndpointParts, dialect: NamingDialect) {
  return {
    subscribers: subscribers(parts, dialect),
    names: names(parts, dialect),
    allDomNames: allDomNames(parts),
    checkers: checkers(parts),
  } satisfies Record<string, Endpoint>
}

/** On `/nacos` only clients that get pushes are subscribers. */
function subscribers({ catalog }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  const { hasJavaKeys: isPushed } = dialect
  const shown = isPushed ? javaSubscriberJson : subscriberJson
  return endpoint({
    summary: 'List the subscribers of a service',
    permission: catalog.subscribers.permission,
    answers: dialect.described(SUBSCRIBERS),
    params: Type.Object({
      ...SERVICE_PARAMS,
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSizeOrZero, 1000),
    }),
    handle: ({ params, caller }) => {
      const request = { key: serviceKeyOf(params), isPushed, page: params }
      return afterwards(catalog.subscribers(request, caller), ({ value: { entries, totalCount }, missing }) =>
        withMissing(jsonAnswer({ subscribers: entries.map(shown), count: totalCount }), missing),
      )
    },
  })
}

function subscriberJson(subscriber: ListedSubscriber): object {
  const { address, port, agent, app, clusters, namespaceId, groupedName, via } = subscriber
  return {
    addrStr: hostPort(address, port),
    agent,
    app,
    ip: address,
    port,
    namespaceId,
    serviceName: groupedName,
    cluster: clusters,
    via,
  }
}

/** As Java shows it: a client with a connection by the address that it reports for itself, without a port. */
function javaSubscriberJson(subscriber: ListedSubscriber): object {
  const { toldIp, agent, app, clusters: cluster, namespaceId, groupedName: serviceName, via } = subscriber
  const ip = via === 'udp' ? subscriber.address : toldIp
  const port = via === 'udp' ? subscriber.port : 0
  const addrStr = via === 'udp' ? hostPort(ip, port) : ip
  return { addrStr, agent, app, ip, port, namespaceId, serviceName, cluster }
}

/** Names without their groups by namespace; `count` is the number of namespaces (http-compat.md section 4). */
function names({ catalog }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'Names of services by namespace',
    permission: catalog.names.permission,
    answers: dialect.described(NAMES),
    params: Type.Object({
      namespaceId: Type.Optional(fields.namespaceId),
      expr: Type.Optional(Type.String({ maxLength: 512, description: 'Only names that hold this text.' })),
    }),
    handle: ({ params, caller }) => {
      const { namespaceId: id, expr: part = '' } = params
      const namespaceId = id === undefined ? undefined : toNamespaceId(id)
      const byNamespace = catalog.names({ namespaceId, part }, caller)
      const services = mapValues(byNamespace, (grouped) => [...new Set(grouped.map(serviceNameOf))])
      if (!dialect.hasJavaKeys) return jsonAnswer({ services, count: byNamespace.size })
      // 2.x has grouped names, by a name that a tool had replaced there.
      const grouped = Object.fromEntries(byNamespace)
      return jsonAnswer({ services, 'META-INF/services': grouped, count: byNamespace.size })
    },
  })
}

/** Read by DNS front ends; old front ends want the plain list. */
function allDomNames({ catalog }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Names of all services by namespace',
    permission: catalog.names.permission,
    params: Type.Object({}),
    handle: ({ caller }) => {
      const byNamespace = catalog.names({ namespaceId: undefined, part: '' }, caller)
      const doms = mapValues(byNamespace, (grouped) => grouped.map(serviceNameOf))
      const all = Object.values(doms).flat()
      const isPlain = /^Nacos-DNS:v(0\.|1\.0\.[01]$)/.test(caller.userAgent)
      return jsonAnswer({ count: all.length, doms: isPlain ? all : doms })
    },
  })
}

function mapValues(
  values: ReadonlyMap<string, readonly string[]>,
  map: (value: readonly string[]) => string[],
): Record<string, string[]> {
  return Object.fromEntries([...values].map(([key, value]) => [key, map(value)]))
}

function checkers({ catalog: { healthCheckers } }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Health checkers that clusters can have',
    permission: healthCheckers.permission,
    answers: answersJson(Json.map(CHECKER_DEFAULTS)),
    params: Type.Object({}),
    handle: ({ caller }) =>
      jsonAnswer(Object.fromEntries(healthCheckers({}, caller).map((checker) => [checker.type, checker]))),
  })
}
