import { Type } from '../../../parameters/schema.ts'
import type { Instance } from '../../../../core/naming/instance.ts'
import { instanceIdOf } from '../../../../core/naming/instance.ts'
import { DEFAULT_CHECKER } from '../../../../core/naming/health-checker.ts'
import { isProtecting } from '../../../../core/naming/select-instances.ts'
import { groupOf, type Service, serviceNameOf } from '../../../../core/naming/service.ts'
import type { ServiceEntry } from '../../../../core/naming/service-entry.ts'
import { existingService } from '../../../../core/naming/service-commands.ts'
import { toNamespaceId } from '../../../../core/namespace-id.ts'
import { Refusal } from '../../../../core/refusal.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import * as fields from '../../../parameters/fields.ts'
import { type Operation, operation } from '../../routing/operation.ts'
import { SERVICE_PARAMS } from './instance-operations.ts'
import { type NamingParts, serviceKeyOf } from './naming-parts.ts'
import { checkerView, clusterNames } from './service-operations.ts'

const READ = { action: 'read', resource: 'naming' } as const

const PAGE_PARAMS = {
  pageNo: fields.withDefault(fields.pageNo, 1),
  pageSize: fields.withDefault(fields.pageSizeOrZero, 100),
}

const substring = Type.String({ maxLength: 512, description: 'Only names that hold this text.' })

/** The views that operators' tools read on `/nacos` (http-compat.md section 4, Catalog). */
export function catalogOperations(parts: NamingParts) {
  return {
    services: services(parts),
    service: service(parts),
    instances: instances(parts),
  } satisfies Record<string, Operation>
}

function services({ state }: NamingParts): Operation {
  return operation({
    summary: 'List services with figures',
    permission: READ,
    params: Type.Object({
      ...PAGE_PARAMS,
      namespaceId: Type.Optional(fields.namespaceId),
      hasIpCount: Type.Optional(Type.Boolean({ description: 'Only services that have instances.' })),
      withInstances: Type.Optional(Type.Boolean({ description: 'With the instances of each.' })),
      serviceNameParam: Type.Optional(substring),
      groupNameParam: Type.Optional(substring),
    }),
    handle: ({ params }) => {
      const namespaceId = toNamespaceId(params.namespaceId)
      const { serviceNameParam = '', groupNameParam = '' } = params
      const entryOf = (groupedName: string) => state.services.get({ namespaceId, groupedName })
      const named = namesHolding(
        state.services.names(namespaceId, undefined),
        serviceNameParam,
        groupNameParam,
      )
      const matching =
        params.hasIpCount === true ? named.filter((name) => (entryOf(name)?.instances.size ?? 0) > 0) : named
      const page = pageOf(matching, params).flatMap((name) => entryOf(name) ?? [])
      if (params.withInstances === true) return jsonAnswer(page.map(withInstances))
      return jsonAnswer({ serviceList: page.map(figures), count: matching.length })
    },
  })
}

function service({ state }: NamingParts): Operation {
  return operation({
    summary: 'Query a service and its clusters',
    permission: READ,
    params: Type.Object(SERVICE_PARAMS),
    handle: ({ params }) => {
      const key = serviceKeyOf(params)
      const known = existingService(state, key)
      const { protectThreshold, selector, metadata } = known
      const { name, groupName } = namesOf(known)
      return jsonAnswer({
        service: { name, groupName, protectThreshold, selector, metadata },
        clusters: clusterNames(known, state.services.get(key)).map((name) => clusterView(known, name)),
      })
    },
  })
}

function instances({ state }: NamingParts): Operation {
  return operation({
    summary: 'List the instances of a cluster, disabled ones included',
    permission: READ,
    params: Type.Object({
      ...SERVICE_PARAMS,
      ...PAGE_PARAMS,
      clusterName: Type.Optional(fields.clusterName),
    }),
    handle: ({ params }) => {
      const key = serviceKeyOf(params)
      const known = existingService(state, key)
      const entry = state.services.get(key)
      const { clusterName } = params
      if (clusterName !== undefined && !clusterNames(known, entry).includes(clusterName)) {
        throw new Refusal('cluster-not-found', `cluster ${clusterName} is not found!`, {
          names: { cluster: clusterName },
        })
      }
      const found = [...(entry?.instances.values() ?? [])].filter(
        ({ record }) => clusterName === undefined || record.address.cluster === clusterName,
      )
      return jsonAnswer({ list: pageOf(found, params).map(instanceView), count: found.length })
    },
  })
}

/** The grouped names whose two parts hold these texts; the very same ones where neither asks for anything. */
function namesHolding(names: readonly string[], inService: string, inGroup: string): readonly string[] {
  if (inService === '' && inGroup === '') return names
  return names.filter((name) => serviceNameOf(name).includes(inService) && groupOf(name).includes(inGroup))
}

function pageOf<T>(all: readonly T[], page: { pageNo: number; pageSize: number }): T[] {
  const first = (page.pageNo - 1) * page.pageSize
  return all.slice(first, first + page.pageSize)
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

function clusterView({ key, clusters }: Service, name: string): object {
  const cluster = clusters[name]
  return {
    serviceName: key.groupedName,
    name,
    healthChecker: checkerView(cluster?.healthChecker ?? DEFAULT_CHECKER),
    defaultPort: 80,
    defaultCheckPort: cluster?.checkPort ?? 80,
    useIPPort4Check: cluster?.useInstancePort4Check ?? true,
    metadata: cluster?.metadata ?? {},
  }
}

function instanceView({ record, healthy, metadata, entry }: Instance): object {
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
