import type { Operations } from '../../../../operations/operations.ts'
import {
  TIMELINE_CAUSES,
  TIMELINE_KINDS,
  type TimelineEntry,
} from '../../../../core/naming/timeline/timeline-entry.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, withMissing } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { SERVICE_PARAMS, serviceKeyOf } from '../naming/naming-requests.ts'
import { ADDRESS_PARAM } from './namespace-scope.ts'

const TIMELINE = Json.named(
  'Timeline',
  Json.object({
    fromMs: Json.time('Nothing is missing from then on: servers remember it in memory, since they started.'),
    truncated: Json.boolean('Whether older entries are left out.'),
    entries: Json.list(
      Json.named(
        'TimelineEntry',
        Json.object({
          atMs: Json.time(),
          kind: Json.words(TIMELINE_KINDS),
          ip: Json.string(),
          port: Json.integer(),
          clusterName: Json.string(),
          cause: Json.words(TIMELINE_CAUSES, 'silence: no beats came; operator: somebody asked for it.'),
          user: Json.nullable(Json.string('The user that asked for it; null where nobody was signed in.')),
          fromIp: Json.nullable(Json.string('From where it was asked for; null where nobody knows.')),
          text: Json.string('The result of a probe, or the weights; else empty.'),
        }),
      ),
    ),
    missingServers: Json.list(Json.string('A server that has not replied in time.')),
  }),
)

/** `GET …/console/timeline`: the history of the instances of a service. */
export function timelineEndpoint(timelines: Operations['timelines']): Endpoint {
  return endpoint({
    summary: 'Lists what has happened to the instances of a service, newest first, with its cause',
    permission: timelines.show.permission,
    answers: answersJson(TIMELINE),
    params: Type.Object({ ...SERVICE_PARAMS, ip: Type.Optional(ADDRESS_PARAM) }),
    handle: ({ params, caller }) =>
      afterwards(
        timelines.show({ key: serviceKeyOf(params), address: params.ip ?? '' }, caller),
        ({ value: { fromMs, isTruncated, entries }, missing }) =>
          withMissing(
            jsonAnswer({
              fromMs: Math.round(fromMs),
              truncated: isTruncated,
              entries: entries.map(entryJson),
              missingServers: missing,
            }),
            missing,
          ),
      ),
  })
}

function entryJson({ atMs, kind, address, cause, actor, text }: TimelineEntry): object {
  const { ip, port, cluster } = address
  const who = { user: actor?.user ?? null, fromIp: actor?.ip ?? null }
  return { atMs, kind, ip, port, clusterName: cluster, cause, ...who, text }
}
