import type { Operations } from '../../../../operations/operations.ts'
import { groupOf, serviceNameOf } from '../../../../core/naming/state/service.ts'
import {
  type ListedService,
  SERVICE_HEALTHS,
  SERVICE_ORDERS,
} from '../../../../operations/console/service-inventory.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer, pageJson, pageSchema } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { ADDRESS_PARAM, METADATA_PARAM, metadataPair, SCOPE_PARAMS, scopeOf } from './namespace-scope.ts'

const PARAMS = Type.Object({
  ...SCOPE_PARAMS,
  text: Type.Optional(
    Type.String({ maxLength: 256, description: 'A part of the name or the group, in any case.' }),
  ),
  groupName: Type.Optional(fields.groupName),
  health: Type.Optional(
    Type.Enum(SERVICE_HEALTHS, {
      description:
        'Services with an unhealthy or a disabled instance, under protection, or without instances.',
    }),
  ),
  ip: Type.Optional(ADDRESS_PARAM),
  metadata: Type.Optional(METADATA_PARAM),
  sort: Type.Optional(Type.Enum(SERVICE_ORDERS, { description: 'name by default.' })),
  order: Type.Optional(
    Type.Enum(['asc', 'desc'], { description: 'desc by default for ipCount and lastChangeMs, else asc.' }),
  ),
  ...fields.page(50),
})

const LISTED = Json.named(
  'ListedService',
  Json.object({
    namespaceId: Json.string(),
    name: Json.string(),
    groupName: Json.string(),
    clusterCount: Json.integer('Only clusters with instances.'),
    ipCount: Json.integer(),
    healthyInstanceCount: Json.integer(),
    disabledCount: Json.integer(),
    protectThreshold: Json.number(),
    protecting: Json.boolean('Whether so few are healthy that all are given out.'),
    subscriberCount: Json.integer('Only clients of this server.'),
    lastChangeMs: Json.time(),
  }),
)

const PAGE = pageSchema('ListedServicePage', LISTED, {
  truncated: Json.boolean('Whether the search took too long: then there may be more.'),
})

/** `GET …/console/services`: the services of one namespace or of all, for people. */
export function listServicesEndpoint(serviceInventory: Operations['serviceInventory']): Endpoint {
  return endpoint({
    summary: 'Lists services by their names, health, addresses and metadata',
    permission: serviceInventory.list.permission,
    answers: answersJson(PAGE),
    params: PARAMS,
    handle: async ({ params, caller }) => {
      const { text = '', groupName: group = '', health, ip: address = '', sort = 'name' } = params
      const { order = sort === 'ipCount' || sort === 'lastChangeMs' ? 'desc' : 'asc' } = params
      const request = {
        namespaceId: scopeOf(params),
        text,
        group,
        health,
        address,
        metadata: metadataPair(params.metadata),
        sort,
        isDescending: order === 'desc',
        page: params,
      }
      const { page, totalCount, entries, isTruncated } = await serviceInventory.list(request, caller)
      return jsonAnswer({ ...pageJson(page, totalCount, entries.map(listedJson)), truncated: isTruncated })
    },
  })
}

function listedJson({ entry, healthyCount, disabledCount, isProtecting, subscriberCount }: ListedService) {
  const { key, protectThreshold } = entry.service
  return {
    namespaceId: key.namespaceId,
    name: serviceNameOf(key.groupedName),
    groupName: groupOf(key.groupedName),
    clusterCount: entry.clusterSizes.size,
    ipCount: entry.instances.size,
    healthyInstanceCount: healthyCount,
    disabledCount,
    protectThreshold,
    protecting: isProtecting,
    subscriberCount,
    lastChangeMs: entry.changedMs,
  }
}
