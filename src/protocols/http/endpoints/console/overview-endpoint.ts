import { hostPort } from '../../../../core/text/ip-address.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { groupOf, serviceNameOf } from '../../../../core/naming/state/service.ts'
import type { BehindItem } from '../../../../core/clients/client-views.ts'
import type { Member } from '../../../../operations/server/operator.ts'
import { type Attention, ATTENTION_KINDS } from '../../../../operations/console/overview.ts'
import { Type } from '../../../parameters/schema.ts'
import { TIMELINE_CAUSES } from '../../../../core/naming/timeline/timeline-entry.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import { ANSWERS_TRUE, answersJson, Json, jsonAnswer, TRUE_JSON, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import type { NotReadyReason } from '../health-routes.ts'
import { SERVICE_PARAMS, serviceKeyOf } from '../naming/naming-requests.ts'
import { SCOPE_PARAMS, scopeOf } from './namespace-scope.ts'

/** The facts about the server in the overview. */
export interface OverviewFacts {
  readonly version: string
  /** Whether its data go when it ends. */
  readonly temporary: boolean
  /** Why the server should be sent no requests. */
  readonly notReady: () => readonly NotReadyReason[]
  /** Faults of a server that is ready. */
  readonly warnings: () => readonly NotReadyReason[]
}

const PROBLEM = Json.named(
  'ServerProblem',
  Json.object({ code: Json.string(), detail: Json.string(), forMs: Json.integer() }),
)

const OVERVIEW = Json.named(
  'Overview',
  Json.object({
    version: Json.string(),
    temporary: Json.boolean('Whether it is `waypost dev`, whose data go when it ends.'),
    configCount: Json.integer(),
    serviceCount: Json.integer(),
    instanceCount: Json.integer(),
    healthyInstanceCount: Json.integer(),
    disabledInstanceCount: Json.integer(),
    subscriberCount: Json.nullable(Json.integer('Null where the caller may not see it.')),
    notReady: Json.list(PROBLEM),
    warnings: Json.list(PROBLEM),
    attention: Json.list(
      Json.named(
        'Attention',
        Json.object({
          kind: Json.words(ATTENTION_KINDS),
          namespaceId: Json.string(),
          serviceName: Json.string(),
          groupName: Json.string(),
          healthyInstanceCount: Json.integer(),
          ipCount: Json.integer(),
          lastChangeMs: Json.time('The last change, or when the last instance left.'),
          lastInstance: Json.nullable(Json.string('The address of the last instance of a lost service.')),
          cause: Json.nullable(Json.words(TIMELINE_CAUSES, 'Why that left.')),
        }),
      ),
    ),
    behind: Json.list(
      Json.named(
        'BehindConfig',
        Json.object({
          namespaceId: Json.string(),
          group: Json.string(),
          dataId: Json.string(),
          clientCount: Json.integer('Clients that have an older version for more than 10 s.'),
          clients: Json.list(
            Json.object({ ip: Json.string(), port: Json.nullable(Json.integer()), agent: Json.string() }),
          ),
        }),
      ),
    ),
    faults: Json.list(
      Json.object({
        server: Json.string('Another server that says so; empty: this one.'),
        code: Json.string(),
        detail: Json.string(),
        forMs: Json.integer(),
      }),
    ),
    missingServers: Json.list(
      Json.string('One that did not reply in time: its clients are not in `behind`.'),
    ),
    members: Json.list(
      Json.object({
        ip: Json.string(),
        port: Json.integer(),
        site: Json.string(),
        alive: Json.boolean(),
        replies: Json.boolean('Whether it replied when it was last asked.'),
        lastRefMs: Json.time(),
      }),
    ),
    truncated: Json.boolean('Whether counting took too long: then there is more.'),
  }),
)

/** `GET …/console/overview`: the condition of everything, and the things that need attention. */
export function overviewEndpoint(overview: Operations['overview'], facts: OverviewFacts): Endpoint {
  return endpoint({
    summary: 'Counts what the caller may read, and tells what needs attention',
    permission: overview.show.permission,
    answers: answersJson(OVERVIEW),
    params: Type.Object(SCOPE_PARAMS),
    handle: async ({ params, caller }) => {
      const shown = await overview.show({ namespaceId: scopeOf(params) }, caller)
      const { attention, behind, members, subscriberCount = null, isTruncated: truncated, ...counts } = shown
      return jsonAnswer({
        version: facts.version,
        temporary: facts.temporary,
        ...counts,
        subscriberCount,
        notReady: facts.notReady(),
        warnings: facts.warnings(),
        attention: attention.map(attentionJson),
        behind: behind.map(behindJson),
        members: members.map(memberJson),
        truncated,
      })
    },
  })
}

/** `DELETE …/console/attention`: somebody has seen that the last instance of a service has left. */
export function dismissEndpoint(overview: Operations['overview']): Endpoint {
  return endpoint({
    summary: 'Leaves a service whose last instance has left out of what needs attention',
    permission: overview.dismissLost.permission,
    answers: ANSWERS_TRUE,
    params: Type.Object(SERVICE_PARAMS),
    handle: ({ params, caller }) =>
      afterwards(overview.dismissLost({ key: serviceKeyOf(params) }, caller), ({ missing }) =>
        withMissing(TRUE_JSON, missing),
      ),
  })
}

function attentionJson({ kind, key, ipCount, healthyCount, lastChangeMs, lost }: Attention): object {
  const { namespaceId, groupedName } = key
  return {
    kind,
    namespaceId,
    serviceName: serviceNameOf(groupedName),
    groupName: groupOf(groupedName),
    healthyInstanceCount: healthyCount,
    ipCount,
    lastChangeMs,
    lastInstance: lost ? hostPort(lost.address.ip, lost.address.port) : null,
    cause: lost?.cause ?? null,
  }
}

function behindJson({ key, clientCount, clients }: BehindItem): object {
  const { namespaceId, group, dataId } = key
  const shown = clients.map(({ ip, client }) => ({
    ip,
    port: client?.port ?? null,
    agent: client?.agent ?? '',
  }))
  return { namespaceId, group, dataId, clientCount, clients: shown }
}

function memberJson({ ip, port, site, alive, replies, lastRefMs }: Member): object {
  return { ip, port, site, alive, replies, lastRefMs }
}
