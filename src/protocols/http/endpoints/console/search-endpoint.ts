import type { Operations } from '../../../../operations/operations.ts'
import { CONFIG_TYPES } from '../../../../core/config/state/config-item.ts'
import type { ServiceEntry, Instance } from '../../../../core/naming/state/service-entry.ts'
import { groupOf, serviceNameOf } from '../../../../core/naming/state/service.ts'
import type { FoundConfig } from '../../../../operations/console/search-everything.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { answersJson, Json, jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import { GRAY_ONLY, grayOnlyJson, HITS, NEXT, nextJson } from './config-list.ts'

const FOUND_CONFIGS = Json.list(
  Json.named(
    'FoundConfig',
    Json.object({
      namespaceId: Json.string('public is the default one.'),
      dataId: Json.string(),
      group: Json.string(),
      type: Json.words(CONFIG_TYPES),
      hits: HITS,
    }),
  ),
)

const SERVICE_FIELDS = { namespaceId: Json.string(), groupName: Json.string(), serviceName: Json.string() }

const FOUND = Json.named(
  'FoundEverywhere',
  Json.object({
    configs: FOUND_CONFIGS,
    configCount: Json.integer(
      'How many have the text in their name, group, description, application or tags.',
    ),
    contents: FOUND_CONFIGS,
    grayOnly: Json.list(GRAY_ONLY),
    services: Json.list(Json.object({ ...SERVICE_FIELDS, ipCount: Json.integer() })),
    serviceCount: Json.integer(),
    instances: Json.list(
      Json.object({
        ...SERVICE_FIELDS,
        ip: Json.string(),
        port: Json.integer(),
        clusterName: Json.string(),
        healthy: Json.boolean(),
        enabled: Json.boolean(),
      }),
    ),
    instanceCount: Json.integer(),
    truncated: Json.boolean('Whether it became too much for one request: then there may be more.'),
    next: NEXT,
  }),
)

/** `GET …/console/search`: a text, everywhere. */
export function searchEndpoint(search: Operations['search']): Endpoint {
  return endpoint({
    summary: 'Finds a text in names, contents, services and addresses of instances, over all namespaces',
    permission: search.everything.permission,
    answers: answersJson(FOUND),
    params: Type.Object({
      text: Type.String({ minLength: 1, maxLength: 256, description: 'A part, in any case.' }),
      most: fields.withDefault(
        Type.Integer({ minimum: 1, maximum: 50, description: 'How many of each kind; 8 by default.' }),
        8,
      ),
    }),
    handle: async ({ params, caller }) => {
      const found = await search.everything(params, caller)
      const { configs, contents, grayOnly, services, instances, isTruncated, next, ...counts } = found
      return jsonAnswer({
        configs: configs.map(configJson),
        contents: contents.map(configJson),
        grayOnly: grayOnly.map(grayOnlyJson),
        services: services.map((entry) => ({ ...serviceJson(entry), ipCount: entry.instances.size })),
        instances: instances.map(instanceJson),
        ...counts,
        truncated: isTruncated,
        next: nextJson(next),
      })
    },
  })
}

function configJson({ item: { key, type }, hits }: FoundConfig): object {
  return { namespaceId: key.namespaceId, dataId: key.dataId, group: key.group, type, hits }
}

function serviceJson({ service: { key } }: ServiceEntry): object {
  const { namespaceId, groupedName } = key
  return { namespaceId, groupName: groupOf(groupedName), serviceName: serviceNameOf(groupedName) }
}

function instanceJson({ entry, record, healthy }: Instance): object {
  const { ip, port, cluster } = record.address
  return { ...serviceJson(entry), ip, port, clusterName: cluster, healthy, enabled: record.enabled }
}
