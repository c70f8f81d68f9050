import { toNamespaceId } from '../../../../core/namespace-id.ts'
import { type Instance, instanceIdOf } from '../../../../core/naming/instance.ts'
import { isProtecting } from '../../../../core/naming/select-instances.ts'
import type { ServiceEntry } from '../../../../core/naming/service-entry.ts'
import { groupOf, type Service, serviceNameOf } from '../../../../core/naming/service.ts'
import type { ShownCluster } from '../../../../operations/services.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { type NamingEndpointParts, SERVICE_PARAMS, serviceKeyOf } from './naming-requests.ts'
import { answersJson, Json } from '../../routing/answer-schema.ts'
import { CHECKER_SCHEMA, SERVICE_SETTINGS } from './naming-schemas.ts'

const FIGURES = Json.object({
  serviceList: Json.list(
    Json.named(
      'ServiceFigures',
      Json.object({
        name: Json.string(),
        groupName: Json.string(),
        clusterCount: Json.integer(),
        ipCount: Json.integer(),
        healthyInstanceCount: Json.integer(),
        triggerFlag: Json.words(['true', 'false'], 'Whether the protection threshold is reached.'),
      }),
    ),
  ),
  count: Json.integer(),
})

const WITH_INSTANCES = Json.object({
  serviceName: Json.string(),
  groupName: Json.string(),
  clusterMap: Json.map(
    Json.object({
      hosts: Json.list(
        Json.object({
          valid: Json.boolean(),
          metadata: Json.map(Json.string()),
          port: Json.integer(),
          ip: Json.string(),
          weight: Json.number(),
          enabled: Json.boolean(),
        }),
      ),
    }),
  ),
  metadata: Json.map(Json.string()),
})

const SERVICE = Json.object({
  service: Json.object({ name: Json.string(), groupName: Json.string(), ...SERVICE_SETTINGS }),
  clusters: Json.list(
    Json.named(
      'ServiceCluster',
      Json.object({
        serviceName: Json.string(),
        name: Json.string(),
        healthChecker: CHECKER_SCHEMA,
        defaultPort: Json.integer(),
        defaultCheckPort: Json.integer(),
        useIPPort4Check: Json.boolean(),
        metadata: Json.map(Json.string()),
      }),
    ),
  ),
})

const INSTANCES = Json.object({
  list: Json.list(
    Json.named(
      'CatalogInstance',
      Json.object({
        instanceId: Json.string(),
        ip: Json.string(),
        port: Json.integer(),
        weight: Json.number(),
        healthy: Json.boolean(),
        enabled: Json.boolean(),
        ephemeral: Json.boolean(),
        clusterName: Json.string(),
        serviceName: Json.string(),
        metadata: Json.map(Json.string()),
        app: Json.string(),
      }),
    ),
  ),
  count: Json.integer(),
})

const PAGE_PARAMS = {
  pageNo: fields.withDefault(fields.pageNo, 1),
  pageSize: fields.withDefault(fields.pageSizeOrZero, 100),
}

const substring = Type.String({ maxLength: 512, description: 'Only names that hold this text.' })

/** The views that operators' tools read on `/nacos` (http-compat.md section 4, Catalog). */
export function catalogEndpoints(parts: NamingEndpointParts) {
  return {
    services: services(parts),
    service: service(parts),
    instances: instances(parts),
  } satisfies Record<string, Endpoint>
}

function services({ catalog }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'List services with figures',
    permission: catalog.entries.permission,
    answers: answersJson(Json.anyOf(FIGURES, Json.list(WITH_INSTANCES))),
    params: Type.Object({
      ...PAGE_PARAMS,
      namespaceId: Type.Optional(fields.namespaceId),
      hasIpCount: Type.Optional(Type.Boolean({ description: 'Only services that have instances.' })),
      withInstances: Type.Optional(Type.Boolean({ description: 'With the instances of each.' })),
      serviceNameParam: Type.Optional(substring),
      groupNameParam: Type.Optional(substring),
    }),
    handle: ({ params, caller }) => {
      const { serviceNameParam: inServiceName = '', groupNameParam: inGroup = '' } = params
      const namespaceId = toNamespaceId(params.namespaceId)
      const onlyInhabited = params.hasIpCount === true
      const request = { namespaceId, inServiceName, inGroup, onlyInhabited, page: params }
      const { entries, totalCount } = catalog.entries(request, caller)
      if (params.withInstances === true) return jsonAnswer(entries.map(withInstances))
      return jsonAnswer({ serviceList: entries.map(figures), count: totalCount })
    },
  })
}

function service({ services: { read } }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'Query a service and its clusters',
    permission: read.permission,
    answers: answersJson(SERVICE),
    params: Type.Object(SERVICE_PARAMS),
    handle: ({ params, caller }) => {
      const { service: known, clusters } = read(serviceKeyOf(params), caller)
      const { protectThreshold, selector, metadata } = known
      const { name, groupName } = namesOf(known)
      return jsonAnswer({
        service: { name, groupName, protectThreshold, selector, metadata },
        clusters: clusters.map((cluster) => clusterJson(known, cluster)),
      })
    },
  })
}

function instances({ catalog }: NamingEndpointParts): Endpoint {
  return endpoint({
    summary: 'List the instances of a cluster, disabled ones included',
    permission: catalog.instances.permission,
    answers: answersJson(INSTANCES),
    params: Type.Object({
      ...SERVICE_PARAMS,
      ...PAGE_PARAMS,
      clusterName: Type.Optional(fields.clusterName),
    }),
    handle: ({ params, caller }) => {
      const request = { key: serviceKeyOf(params), cluster: params.clusterName, page: params }
      const { entries, totalCount } = catalog.instances(request, caller)
      return jsonAnswer({ list: entries.map(instanceJson), count: totalCount })
    },
  })
}

function namesOf({ key }: Service): { name: string; groupName: string } {
  return { name: serviceNameOf(key.groupedName), groupName: groupOf(key.groupedName) }
}

function figures(entry: ServiceEntry): object {
  const ipCount = entry.instances.size
  let healthyInstanceCount = 0
  for (const { healthy } of entry.instances.values()) if (healthy) healthyInstanceCount++
  const { protectThreshold } = entry.service
  const { name, groupName } = namesOf(entry.service)
  return {
    name,
    groupName,
    clusterCount: entry.clusterSizes.size,
    ipCount,
    healthyInstanceCount,
    triggerFlag: String(isProtecting(protectThreshold, { healthy: healthyInstanceCount, all: ipCount })),
  }
}

function withInstances(entry: ServiceEntry): object {
  const { name, groupName } = namesOf(entry.service)
  // A Map: a cluster may be called `constructor`.
  const clusters = new Map<string, { hosts: object[] }>()
  for (const { record, healthy, metadata } of entry.instances.values()) {
    const { ip, port, cluster } = record.address
    const { weight, enabled } = record
    const known = clusters.get(cluster) ?? { hosts: [] }
    clusters.set(cluster, known)
    known.hosts.push({ valid: healthy, metadata, port, ip, weight, enabled })
  }
  const clusterMap = Object.fromEntries(clusters)
  return { serviceName: name, groupName, clusterMap, metadata: entry.service.metadata }
}

function clusterJson({ key }: Service, cluster: ShownCluster): object {
  return {
    serviceName: key.groupedName,
    name: cluster.name,
    healthChecker: cluster.healthChecker,
    defaultPort: 80,
    defaultCheckPort: cluster.checkPort,
    useIPPort4Check: cluster.useInstancePort4Check,
    metadata: cluster.metadata,
  }
}

function instanceJson({ record, healthy, metadata, entry }: Instance): object {
  const { address, weight, enabled, ephemeral, app } = record
  const { groupedName } = entry.service.key
  return {
    instanceId: instanceIdOf(address, groupedName),
    ip: address.ip,
    port: address.port,
    weight,
    healthy,
    enabled,
    ephemeral,
    clusterName: address.cluster,
    serviceName: groupedName,
    metadata,
    app,
  }
}
