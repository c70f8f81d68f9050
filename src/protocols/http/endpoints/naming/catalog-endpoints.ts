import { toNamespaceId } from '../../../../core/namespaces/namespace.ts'
import { instanceIdOf } from '../../../../core/naming/state/instance.ts'
import { isServiceProtecting } from '../../../../core/naming/state/select-instances.ts'
import type { ServiceEntry, Instance } from '../../../../core/naming/state/service-entry.ts'
import { groupOf, type Service, serviceNameOf } from '../../../../core/naming/state/service.ts'
import type { ListedInstance } from '../../../../operations/naming/catalog.ts'
import type { ShownCluster } from '../../../../operations/naming/services.ts'
import { hostJson } from '../../../answers/host-json.ts'
import * as fields from '../../../parameters/fields.ts'
import { Type } from '../../../parameters/schema.ts'
import { jsonOfTexts, Json } from '../../routing/answers.ts'
import { type Endpoint, endpoint } from '../../routing/route.ts'
import {
  type NamingEndpointParts,
  SERVICE_PARAMS,
  serviceKeyOf,
  type NamingDialect,
  CHECKER_SCHEMA,
  SERVICE_SETTINGS,
  javaSelector,
} from './naming-requests.ts'

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

const CLUSTER = Json.named(
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
)

const SERVICE = Json.named(
  'CatalogService',
  Json.object({
    service: Json.object({ name: Json.string(), groupName: Json.string(), ...SERVICE_SETTINGS }),
    clusters: Json.list(CLUSTER),
  }),
)

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
      const { entries, totalCount, inTurns } = catalog.entries(request, caller)
      if (params.withInstances === true) return jsonOfTexts(allWithInstances(entries, dialect), inTurns)
      const textOf = (each: ServiceEntry): string => dialect.text(figures(each))
      const around = ['{"serviceList":[', `],"count":${totalCount}}`] as const
      return jsonOfTexts(listTexts(around, entries, textOf), inTurns)
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
      const { entries, totalCount, beatIntervalMs, inTurns } = catalog.instances(request, caller)
      const textOf = (each: ListedInstance): string =>
        dialect.hasJavaKeys
          ? javaInstanceText(each, beatIntervalMs)
          : dialect.text(instanceJson(each.instance))
      const around = ['{"list":[', `],"count":${totalCount}}`] as const
      return jsonOfTexts(listTexts(around, entries, textOf), inTurns)
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
  const { name, groupName } = namesOf(entry.service)
  return {
    name,
    groupName,
    clusterCount: entry.clusterSizes.size,
    ipCount,
    healthyInstanceCount,
    triggerFlag: String(isServiceProtecting(entry)),
  }
}

/** Fields that the Java server leaves empty in these answers. */
const LEFT_EMPTY = {
  cluster: { clusterName: null, healthChecker: null, metadata: null },
  service: { namespace: null, selector: null, ephemeral: null },
}

/** The texts of a list of JSON, with the texts before and after its entries. */
function* listTexts<T>(
  [before, after]: readonly [string, string],
  entries: Iterable<T>,
  textOf: (entry: T) => string,
): Generator<string, void> {
  let between = before
  for (const entry of entries) {
    yield between + textOf(entry)
    between = ','
  }
  yield between === before ? before + after : after
}

function* allWithInstances(
  entries: readonly ServiceEntry[],
  dialect: NamingDialect,
): Generator<string, void> {
  yield '['
  for (const [at, entry] of entries.entries()) {
    if (at > 0) yield ','
    yield* withInstances(entry, dialect)
  }
  yield ']'
}

function* withInstances(entry: ServiceEntry, { hasJavaKeys, text }: NamingDialect): Generator<string, void> {
  const { name, groupName } = namesOf(entry.service)
  yield `{${membersOf(text({ serviceName: name, groupName }))},"clusterMap":{`
  const empty = hasJavaKeys ? `,${membersOf(text(LEFT_EMPTY.cluster))}}` : '}'
  let between = ''
  for (const [cluster, instances] of byCluster(entry)) {
    const around = [`${between}${JSON.stringify(cluster)}:{"hosts":[`, `]${empty}`] as const
    yield* listTexts(around, instances, (each) => text(hostOf(each)))
    between = ','
  }
  const { metadata, protectThreshold } = entry.service
  const more = hasJavaKeys ? { ...LEFT_EMPTY.service, protectThreshold } : {}
  yield `},${membersOf(text({ metadata, ...more }))}}`
}

/** An object as JSON, without its brackets. */
function membersOf(json: string): string {
  return json.slice(1, -1)
}

function byCluster({ instances }: ServiceEntry): Map<string, Instance[]> {
  const clusters = new Map<string, Instance[]>()
  for (const instance of instances.values()) {
    const { cluster } = instance.record.address
    const known = clusters.get(cluster) ?? []
    if (known.push(instance) === 1) clusters.set(cluster, known)
  }
  return clusters
}

function hostOf({ record, healthy, metadata }: Instance): object {
  const { address, weight, enabled } = record
  return { valid: healthy, metadata, port: address.port, ip: address.ip, weight, enabled }
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

/** A host as in a list, with the further fields of 1.4. Without a beat, `lastBeat` is 0. */
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
