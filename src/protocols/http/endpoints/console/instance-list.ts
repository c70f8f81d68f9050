import type { ClientSilence } from '../../../../core/naming/connections/connection-registration.ts'
import type { Instance } from '../../../../core/naming/state/service-entry.ts'
import type { Operations } from '../../../../operations/operations.ts'
import { instanceIdOf } from '../../../../core/naming/state/instance.ts'
import { TIMELINE_CAUSES } from '../../../../core/naming/timeline/timeline-entry.ts'
import type { ExplainedEntry } from '../../../../operations/console/explanations.ts'
import type { Override } from '../../../../operations/console/overrides.ts'
import type { LastProbe, ShownInstance } from '../../../../operations/console/instance-views.ts'
import type { ShownConnection } from '../../../../operations/console/shown-connection.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, pageJson, pageSchema } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { SERVICE_PARAMS, serviceKeyOf } from '../naming/naming-requests.ts'
import { ADDRESS_PARAM, METADATA_PARAM, metadataPair } from './namespace-scope.ts'
import { SELECTION_REASONS } from '../../../../core/naming/state/explain-selection.ts'
import { splitClusters } from '../../../parameters/grouped-name.ts'

const PARAMS = Type.Object({
  ...SERVICE_PARAMS,
  clusterName: Type.Optional(fields.clusterName),
  ip: Type.Optional(ADDRESS_PARAM),
  healthy: Type.Optional(fields.healthy),
  enabled: Type.Optional(fields.enabled),
  metadata: Type.Optional(METADATA_PARAM),
  ...fields.page(50),
})

/** The schema of `instanceFields`. */
const INSTANCE_FIELDS = {
  instanceId: Json.string(),
  ip: Json.string(),
  port: Json.integer(),
  clusterName: Json.string(),
  weight: Json.number(),
  healthy: Json.boolean(),
  enabled: Json.boolean(),
  ephemeral: Json.boolean(),
  claims: Json.integer(
    'How many other publishers have registered the address too: one takes over when its publisher leaves.',
  ),
}

const OVERRIDES = Json.list(
  Json.named(
    'Override',
    Json.object({
      field: Json.string('weight, enabled, or metadata. and a key.'),
      value: Json.string(),
      application: Json.nullable(
        Json.string('The value of the application; null where it has none, or nobody knows it.'),
      ),
      atMs: Json.nullable(Json.time()),
      user: Json.nullable(Json.string('Null where nobody was signed in, or nobody knows who it was.')),
      fromIp: Json.nullable(Json.string('Null where nobody knows who it was.')),
    }),
  ),
)

const CONNECTION = Json.object({
  where: Json.words(
    ['here', 'elsewhere', 'gone'],
    'Whether its connection is on this server or another one; gone: its server is gone.',
  ),
  server: Json.nullable(Json.string('The other server.')),
  library: Json.nullable(Json.string('The name and version of the library of its client.')),
  ip: Json.nullable(Json.string()),
  port: Json.nullable(Json.integer()),
  connectedMs: Json.nullable(Json.time()),
  silentMs: Json.nullable(
    Json.integer('How long its client has said nothing; null: it said something lately.'),
  ),
  removedInMs: Json.nullable(
    Json.integer('Where its server is gone, or its client silent: when it is removed unless it comes back.'),
  ),
})

const SHOWN = Json.named(
  'ShownInstance',
  Json.object({
    ...INSTANCE_FIELDS,
    app: Json.string(),
    metadata: Json.map(Json.string()),
    remembered: Json.map(Json.string('A key that operators wrote over the metadata.')),
    overrides: OVERRIDES,
    disabled: Json.nullable(
      Json.object({
        atMs: Json.time(),
        user: Json.nullable(Json.string('Null where nobody was signed in, or another server was asked.')),
        fromIp: Json.nullable(Json.string()),
        cause: Json.words(['operator', 'registration', 'connection']),
      }),
    ),
    lastBeatAgoMs: Json.nullable(Json.integer('Null where it does not beat, or beats at another server.')),
    unhealthyAfterMs: Json.integer('After this much silence it becomes unhealthy.'),
    removedAfterMs: Json.integer('After this much silence it is removed.'),
    expiresInMs: Json.nullable(Json.integer('How much silence is left; null: silence does not remove it.')),
    health: Json.object({
      reason: Json.words(
        ['beat', 'beat-timeout', 'probe', 'operator', 'connection', 'never'],
        'The source of its health; never: nobody has looked at it yet. A probe without a check: another server probes it.',
      ),
      check: Json.nullable(
        Json.object({
          type: Json.string(),
          up: Json.boolean(),
          text: Json.string(),
          elapsedMs: Json.number(),
          atMs: Json.time(),
        }),
      ),
      connection: Json.nullable(CONNECTION),
    }),
  }),
)

/** `GET …/console/instances`: the instances of a service, and why each is as it is. */
export function listInstancesEndpoint(instanceViews: Operations['instanceViews']): Endpoint {
  return endpoint({
    summary: 'Lists the instances of a service, each with the reason for its health',
    permission: instanceViews.list.permission,
    answers: answersJson(pageSchema('ShownInstancePage', SHOWN)),
    params: PARAMS,
    handle: ({ params, caller }) => {
      const { clusterName: cluster, ip: address = '', healthy, enabled } = params
      const metadata = metadataPair(params.metadata)
      const request = {
        key: serviceKeyOf(params),
        cluster,
        address,
        healthy,
        enabled,
        metadata,
        page: params,
      }
      const { page, totalCount, nowMs, entries } = instanceViews.list(request, caller)
      const items = entries.map((entry) => shownJson(entry, nowMs))
      return jsonAnswer(pageJson(page, totalCount, items))
    },
  })
}

function shownJson({ instance, timing, ...about }: ShownInstance, nowMs: number): object {
  const { record, metadata } = instance
  const { lastBeatAgoMs, expiresInMs } = about
  const { reason, checker = '', probe, connection, remembered, overrides, disabling } = about
  return {
    ...instanceFields(instance),
    app: record.app,
    metadata,
    remembered,
    overrides: overrides.map(overrideJson),
    disabled: disabling === undefined ? null : disablingJson(disabling),
    lastBeatAgoMs: lastBeatAgoMs ?? null,
    unhealthyAfterMs: timing.unhealthyMs,
    removedAfterMs: timing.removeMs,
    expiresInMs: expiresInMs ?? null,
    health: {
      reason,
      check: probe === undefined ? null : checkJson(checker, probe, nowMs),
      connection: connectionJson(connection),
    },
  }
}

/** The fields that everybody sees of an instance. */
function instanceFields({ record, healthy, entry }: Instance): object {
  const { address, weight, enabled, ephemeral } = record
  const instanceId = instanceIdOf(address, entry.service.key.groupedName)
  const { ip, port, cluster: clusterName } = address
  const claims = record.claims?.length ?? 0
  return { instanceId, ip, port, clusterName, weight, healthy, enabled, ephemeral, claims }
}

function overrideJson({ field, value, said, setting }: Override): object {
  const { atMs = null, user = null, ip: fromIp = null } = setting ?? {}
  return { field, value, application: said ?? null, atMs, user, fromIp }
}

function disablingJson({ atMs, actor, cause }: NonNullable<ShownInstance['disabling']>): object {
  return { atMs, user: actor?.user ?? null, fromIp: actor?.ip ?? null, cause }
}

function silenceJson(silence: ClientSilence | undefined): object {
  if (silence === undefined) return {}
  return { silentMs: Math.round(silence.silentMs), removedInMs: Math.round(silence.leavesInMs) }
}

function connectionJson(connection: ShownConnection | undefined): object | null {
  if (connection === undefined) return null
  const noClient = { library: null, ip: null, port: null, connectedMs: null }
  const nothing = { server: null, ...noClient, silentMs: null, removedInMs: null }
  const { where } = connection
  switch (where) {
    case 'here':
      return { where, ...nothing, ...connection.client, ...silenceJson(connection.silence) }
    case 'elsewhere':
      return { where, ...nothing, server: connection.server }
    case 'gone':
      return { where, ...nothing, removedInMs: connection.removedInMs }
  }
}

function checkJson(type: string, { isUp, text, elapsedMs, agoMs }: LastProbe, nowMs: number): object {
  return { type, up: isUp, text, elapsedMs: Math.round(elapsedMs), atMs: Math.round(nowMs - agoMs) }
}

const EXPLAINED = Json.named(
  'ExplainedInstance',
  Json.object({
    ...INSTANCE_FIELDS,
    listed: Json.boolean('Whether the client gets it.'),
    reasons: Json.list(Json.words(SELECTION_REASONS)),
    overrides: OVERRIDES,
    came: Json.nullable(
      Json.object({
        atMs: Json.time(),
        cause: Json.words(
          TIMELINE_CAUSES,
          'How it was registered last. claim: it has waited for the address; memory: it is back as silence removed it.',
        ),
      }),
    ),
  }),
)

const PAGE = pageSchema('ExplainedInstancePage', EXPLAINED, {
  listedCount: Json.integer('How many the client gets.'),
  protectThreshold: Json.number(),
  protecting: Json.boolean('Whether so few are healthy that all are given out as healthy.'),
  selector: Json.words(
    ['none', 'applied', 'ignored'],
    'ignored: the client has no such labels, or no instance shares them, so that all are given out.',
  ),
})

/** `GET …/console/explain`: the list of a service that a client gets, and why. */
export function explainEndpoint(explanations: Operations['explanations']): Endpoint {
  return endpoint({
    summary: 'Says for each instance of a service why a client gets it or not',
    permission: explanations.explain.permission,
    answers: answersJson(PAGE),
    params: Type.Object({
      ...SERVICE_PARAMS,
      clusters: fields.withDefault(fields.clusters, ''),
      healthyOnly: fields.withDefault(fields.healthyOnly, false),
      ip: Type.Optional(
        fields.withDescription(
          fields.clientIP,
          'The address of the client; absent: the address of the caller.',
        ),
      ),
      ...fields.page(100),
    }),
    handle: ({ params, caller }) => {
      const { clusters, healthyOnly, ip: consumerIp = caller.ip } = params
      const key = serviceKeyOf(params)
      const names = clusters === '' ? [] : splitClusters(clusters)
      const found = explanations.explain(
        { key, clusters: names, healthyOnly, consumerIp, page: params },
        caller,
      )
      const { page, totalCount, entries, ...about } = found
      return jsonAnswer({ ...pageJson(page, totalCount, entries.map(explainedJson)), ...about })
    },
  })
}

function explainedJson({ instance, isListed, reasons, overrides, came }: ExplainedEntry): object {
  const about = {
    overrides: overrides.map(overrideJson),
    came: came ? { atMs: came.atMs, cause: came.cause } : null,
  }
  return { ...instanceFields(instance), listed: isListed, reasons, ...about }
}
