import { toNamespaceId } from '../../../../core/namespaces/namespace-id.ts'
import { instanceIdOf } from '../../../../core/naming/state/instance.ts'
import { isProtecting } from '../../../../core/naming/state/select-instances.ts'
import type { ServiceEntry, Instance } from '../../../../core/naming/state/service-entry.ts'
import { groupOf, type Service, serviceNameOf } from '../../../../core/naming/state/service.ts'
import type { ListedInstance } from '../../../../operations/naming/catalog.ts'
import type { ShownCluster } from '../../../../operations/naming/services.ts'
import { hostJson } from '../../../answers/host-json.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonTextAnswer } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/endpoint.ts'
import { type NamingEndpointParts, SERVICE_PARAMS, serviceKeyOf } from './naming-requests.ts'
import { Json } from '../../routing/answer-schema.ts'
import type { NamingDialect } from '../naming-dialect.ts'
import { javaSelector } from './java-selector.ts'
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
export function catalogEndpoints(parts: NamingEndpointParts, dialect: NamingDialect) {
  return {
    services: services(parts, dialect),
    service: service(parts, dialect),
    instances: instances(parts, dialect),
  } satisfies Record<string, Endpoint>
}

function services({ catalog }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'List services with figures',
    permission: catalog.entries.permission,
    answers: dialect.described(Json.anyOf(FIGURES, Json.list(WITH_INSTANCES))),
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
      if (params.withInstances === true)
        return dialect.json(entries.map((each) => withInstances(each, dialect)))
      return dialect.json({ serviceList: entries.map(figures), count: totalCount })
    },
  })
}

function service({ services: { read } }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'Query a service and its clusters',
    permission: read.permission,
    answers: dialect.described(SERVICE),
    params: Type.Object(SERVICE_PARAMS),
    handle: ({ params, caller }) => {
      const { service: known, clusters } = read(serviceKeyOf(params), caller)
      const { protectThreshold, metadata } = known
      const { name, groupName } = namesOf(known)
      const selector = dialect.hasJavaKeys ? javaSelector(known.selector) : known.selector
      return dialect.json({
        service: { name, groupName, protectThreshold, selector, metadata },
        clusters: clusters.map((cluster) => clusterJson(known, cluster, dialect)),
      })
    },
  })
}

function instances({ catalog }: NamingEndpointParts, dialect: NamingDialect): Endpoint {
  return endpoint({
    summary: 'List the instances of a cluster, disabled ones included',
    permission: catalog.instances.permission,
    answers: dialect.described(INSTANCES),
    params: Type.Object({
      ...SERVICE_PARAMS,
      ...PAGE_PARAMS,
      clusterName: Type.Optional(fields.clusterName),
    }),
    handle: ({ params, caller }) => {
      const request = { key: serviceKeyOf(params), cluster: params.clusterName, page: params }
      const { entries, totalCount, beatIntervalMs } = catalog.instances(request, caller)
      if (dialect.hasJavaKeys) {
        const list = entries.map((each) => javaInstanceText(each, beatIntervalMs)).join(',')
        return jsonTextAnswer(`{"list":[${list}],"count":${totalCount}}`)
      }
      return dialect.json({ list: entries.map(({ instance }) => instanceJson(instance)), count: totalCount })
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

/** What the Java server leaves empty in these answers, although it has the fields. */
const LEFT_EMPTY = {
  cluster: { clusterName: null, healthChecker: null, metadata: null },
  service: { namespace: null, selector: null, ephemeral: null },
}

function withInstances(entry: ServiceEntry, { hasJavaKeys }: NamingDialect): object {
  const { name, groupName } = namesOf(entry.service)
  const empty = hasJavaKeys ? LEFT_EMPTY.cluster : {}
  // A Map: a cluster may be called `constructor`.
  const clusters = new Map<string, { hosts: object[] }>()
  for (const { record, healthy, metadata } of entry.instances.values()) {
    const { ip, port, cluster } = record.address
    const { weight, enabled } = record
    const known = clusters.get(cluster) ?? { hosts: [], ...empty }
    clusters.set(cluster, known)
    known.hosts.push({ valid: healthy, metadata, port, ip, weight, enabled })
  }
  const clusterMap = Object.fromEntries(clusters)
  const { metadata, protectThreshold } = entry.service
  const shown = { serviceName: name, groupName, clusterMap, metadata }
  return hasJavaKeys ? { ...shown, ...LEFT_EMPTY.service, protectThreshold } : shown
}

function clusterJson({ key }: Service, cluster: ShownCluster, { hasJavaKeys }: NamingDialect): object {
  const { checkPort } = cluster
  return {
    serviceName: key.groupedName,
    name: cluster.name,
    healthChecker: cluster.healthChecker,
    defaultPort: DEFAULT_PORT,
    defaultCheckPort: checkPort,
    useIPPort4Check: cluster.useInstancePort4Check,
    metadata: cluster.metadata,
    // 1.4 has the ports once more, by older names.
    ...(hasJavaKeys ? { sitegroup: '', defIPPort: DEFAULT_PORT, defCkport: checkPort, empty: false } : {}),
  }
}

const DEFAULT_PORT = 80

/** A host as in a list, with what 1.4 shows of it besides. Without a beat, `lastBeat` is 0. */
function javaInstanceText({ instance, lastBeatMs = 0 }: ListedInstance, beatIntervalMs: number): string {
  const host = hostJson(instance, instance.healthy, beatIntervalMs)
  const app = JSON.stringify(instance.record.app)
  return `${host.slice(0, -1)},"app":${app},"lastBeat":${lastBeatMs},"marked":false}`
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
