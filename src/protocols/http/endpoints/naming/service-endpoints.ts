import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import type { ServiceSettings } from '../../../../core/naming/commands/service-commands.ts'
import { groupOf, serviceNameOf } from '../../../../core/naming/state/service.ts'
import { afterwards } from '../../../../operations/afterwards.ts'
import type { ServiceDetail } from '../../../../operations/naming/services.ts'
import * as fields from '../../../parameters/fields.ts'
import { parseHealthChecker, parseSelector } from '../../../parameters/json-fields.ts'
import { type Static, Type } from '../../../parameters/schema.ts'
import { jsonAnswer, OK_TEXT, ANSWERS_OK, answersJson, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint, type Answer } from '../../routing/route.ts'
import {
  metadataOf,
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
  type NamingDialect,
  CHECKER_SCHEMA,
  SERVICE_SETTINGS,
  javaSelector,
} from './naming-requests.ts'

const SETTINGS_PARAMS = {
  ...SERVICE_PARAMS,
  protectThreshold: Type.Optional(fields.protectThreshold),
  metadata: Type.Optional(fields.metadata),
  selector: Type.Optional(fields.selector),
}

const SERVICE = Json.named(
  'ServiceDetail',
  Json.object({
    name: Json.string(),
    groupName: Json.string(),
    namespaceId: Json.string(),
    ...SERVICE_SETTINGS,
    clusters: Json.list(
      Json.object({ name: Json.string(), healthChecker: CHECKER_SCHEMA, metadata: Json.map(Json.string()) }),
    ),
  }),
)

const SERVICE_NAMES = Json.object({ doms: Json.list(Json.string()), count: Json.integer() })

/** The endpoints of services (interface.md, Service discovery: services). */
export function serviceEndpoints(parts: NamingEndpointParts, dialect: NamingDialect) {
  const { services } = parts
  return {
    create: endpoint({
      summary: 'Create service',
      permission: services.create.permission,
      answers: ANSWERS_OK,
      params: Type.Object(SETTINGS_PARAMS),
      handle: ({ params, caller }) =>
        afterwards(
          services.create({ key: serviceKeyOf(params), ...settingsOf(parts, params) }, caller),
          okAnswer,
        ),
    }),
    update: endpoint({
      summary: 'Update service',
      permission: services.update.permission,
      answers: ANSWERS_OK,
      params: Type.Object(SETTINGS_PARAMS),
      handle: ({ params, caller }) =>
        afterwards(
          services.update({ key: serviceKeyOf(params), ...settingsOf(parts, params) }, caller),
          okAnswer,
        ),
    }),
    remove: endpoint({
      summary: 'Delete service',
      permission: services.remove.permission,
      answers: ANSWERS_OK,
      params: Type.Object(SERVICE_PARAMS),
      handle: ({ params, caller }) =>
        afterwards(services.remove({ key: serviceKeyOf(params) }, caller), okAnswer),
    }),
    query: endpoint({
      summary: 'Query service',
      permission: services.read.permission,
      answers: dialect.described(SERVICE),
      params: Type.Object(SERVICE_PARAMS),
      handle: ({ params, caller }) =>
        dialect.json(detailJson(services.read(serviceKeyOf(params), caller), dialect)),
    }),
    list: listServices(parts),
    saveCluster: cluster(parts),
  } satisfies Record<string, Endpoint>
}

function listServices({ services }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query service list',
    permission: services.list.permission,
    answers: answersJson(SERVICE_NAMES),
    params: Type.Object({
      pageNo: fields.pageNoOrZero,
      pageSize: fields.pageSize,
      groupName: fields.groupNameOrDefault,
      namespaceId: Type.Optional(fields.namespaceId),
    }),
    handle: ({ params, caller }) => {
      const { pageNo, pageSize, groupName: group } = params
      const page = { pageNo: Math.max(pageNo, 1), pageSize }
      const namespaceId = toNamespaceId(params.namespaceId)
      const { entries, totalCount } = services.list({ namespaceId, group, filter: '', page }, caller)
      return jsonAnswer({ doms: entries.map(serviceNameOf), count: totalCount })
    },
  })
}

function cluster(parts: NamingEndpointParts): Endpoint {
  const { saveCluster } = parts.services
  const params = Type.Object({
    ...SERVICE_PARAMS,
    clusterName: fields.clusterName,
    checkPort: fields.checkPort,
    useInstancePort4Check: fields.useInstancePort4Check,
    healthChecker: fields.healthChecker,
    metadata: Type.Optional(fields.metadata),
  })
  return endpoint({
    summary: 'Set the health checker and metadata of a cluster',
    permission: saveCluster.permission,
    answers: ANSWERS_OK,
    params,
    handle: (request) => {
      const read: Static<typeof params> = request.params
      const saved = {
        name: read.clusterName,
        healthChecker: parseHealthChecker(read.healthChecker, { unknownIsNone: false }),
        checkPort: read.checkPort,
        useInstancePort4Check: read.useInstancePort4Check,
        metadata: metadataOf(parts, read.metadata) ?? {},
      }
      return afterwards(saveCluster({ key: serviceKeyOf(read), cluster: saved }, request.caller), okAnswer)
    },
  })
}

function okAnswer(): Answer {
  return OK_TEXT
}

function settingsOf(
  parts: NamingEndpointParts,
  params: { protectThreshold?: number; metadata?: string; selector?: string },
): ServiceSettings {
  const { protectThreshold, metadata, selector } = params
  return {
    protectThreshold,
    metadata: metadataOf(parts, metadata),
    selector: selector === undefined ? undefined : parseSelector(selector),
  }
}

function detailJson({ service, clusters }: ServiceDetail, { hasJavaKeys }: NamingDialect): object {
  const { key, protectThreshold, metadata, selector } = service
  return {
    name: serviceNameOf(key.groupedName),
    groupName: groupOf(key.groupedName),
    namespaceId: key.namespaceId,
    protectThreshold,
    metadata,
    selector: hasJavaKeys ? javaSelector(selector) : selector,
    clusters: clusters.map((one) => ({
      name: one.name,
      healthChecker: one.healthChecker,
      metadata: one.metadata,
    })),
  }
}
