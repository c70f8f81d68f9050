import type { Operations } from '../../../../operations/operations.ts'
import { type ExplainedInstance, SELECTION_REASONS } from '../../../../core/naming/state/explain-selection.ts'
import { instanceIdOf } from '../../../../core/naming/state/instance.ts'
import * as fields from '../../../parameters/fields.ts'
import { splitClusters } from '../../../parameters/grouped-name.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { pageJson, pageSchema } from '../config/page-json.ts'
import { SERVICE_PARAMS, serviceKeyOf } from '../naming/naming-requests.ts'

const EXPLAINED = Json.named(
  'ExplainedInstance',
  Json.object({
    instanceId: Json.string(),
    ip: Json.string(),
    port: Json.integer(),
    clusterName: Json.string(),
    weight: Json.number(),
    healthy: Json.boolean(),
    enabled: Json.boolean(),
    ephemeral: Json.boolean(),
    listed: Json.boolean('Whether the client gets it.'),
    reasons: Json.list(Json.words(SELECTION_REASONS)),
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
        fields.withDescription(fields.clientIP, 'The address of the client; absent: that of the caller.'),
      ),
      pageNo: fields.withDefault(fields.pageNo, 1),
      pageSize: fields.withDefault(fields.pageSize, 100),
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

function explainedJson({ instance, isListed, reasons }: ExplainedInstance): object {
  const { record, healthy, entry } = instance
  const { address, weight, enabled, ephemeral } = record
  return {
    instanceId: instanceIdOf(address, entry.service.key.groupedName),
    ip: address.ip,
    port: address.port,
    clusterName: address.cluster,
    weight,
    healthy,
    enabled,
    ephemeral,
    listed: isListed,
    reasons,
  }
}
