import { Type } from '../../../parameters/schema.ts'
import type { ServiceKey } from '../../../../core/naming/service.ts'
import type { ListFormat } from '../../../answers/list-format.ts'
import { asciiJsonAnswer } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { splitClusters } from '../../../parameters/grouped-name.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import type { Caller } from '../../routing/route.ts'
import { SERVICE_PARAMS } from './instance-operations.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'
import { acceptsPush } from './push-agents.ts'

const NO_CLUSTERS: readonly string[] = []

/** How a dialect writes a list for a client. */
export type ListFormatOf = (caller: Caller) => ListFormat

/** `GET …/instance/list`: the hot read of service discovery. A udpPort subscribes to pushes. */
export function listOperation(parts: NamingParts, formatOf: ListFormatOf): Operation {
  return operation({
    summary: 'Query instances',
    permission: { action: 'read', resource: 'naming' },
    params: Type.Object({
      ...SERVICE_PARAMS,
      clusters: fields.withDefault(fields.clusters, ''),
      healthyOnly: fields.withDefault(fields.healthyOnly, false),
      udpPort: fields.withDefault(fields.udpPort, 0),
      clientIP: Type.Optional(fields.clientIP),
      app: Type.Optional(fields.app),
    }),
    handle: ({ params, caller }) => {
      const key = serviceKeyOf(params)
      const clustersText = params.clusters
      const consumerIp = params.clientIP ?? caller.ip
      const { udpPort, app } = params
      const format = formatOf(caller)
      const pushed =
        udpPort > 0 && subscribed(parts, caller, { key, format, udpPort, clustersText, consumerIp, app })
      const { switches } = parts.state
      return asciiJsonAnswer(
        parts.lists.answer({
          key,
          format,
          clustersText,
          clusters: clustersText === '' ? NO_CLUSTERS : splitClusters(clustersText),
          healthyOnly: params.healthyOnly,
          consumerIp,
          cacheMillis: pushed ? switches.defaultPushCacheMillis : switches.defaultCacheMillis,
        }),
      )
    },
  })
}

interface Asked {
  readonly key: ServiceKey
  readonly format: ListFormat
  readonly udpPort: number
  readonly clustersText: string
  readonly consumerIp: string
  readonly app: string | undefined
}

/** Pushes go to the socket's own address: one that a client names could be somebody else's. */
function subscribed(parts: NamingParts, caller: Caller, asked: Asked): boolean {
  const clientVersion = caller.headers['client-version']
  const agent = caller.userAgent
  const named = typeof clientVersion === 'string' ? clientVersion : ''
  if (!acceptsPush(agent, named, parts.state.switches)) return false
  return parts.pushes.subscribe({
    address: caller.socketIp,
    port: asked.udpPort,
    agent: agent === '' ? named : agent,
    app: asked.app ?? 'unknown',
    clusters: asked.clustersText,
    format: asked.format,
    namespaceId: asked.key.namespaceId,
    groupedName: asked.key.groupedName,
    consumerIp: asked.consumerIp,
  })
}
