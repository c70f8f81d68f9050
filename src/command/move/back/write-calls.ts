import type { PlanCluster, PlanConfig, PlanInstance, PlanNamespace, PlanService } from '../../../move/plan.ts'
import type { OldCall, OldParams } from '../old/old-server.ts'
import type { GoingThing } from './what-goes-back.ts'

/** The calls that write a thing. */
export function callsOf(thing: GoingThing, isThere: boolean): OldCall[] {
  switch (thing.kind) {
    case 'namespace':
      return [namespaceCall(thing, isThere)]
    case 'config':
      return [configCall(thing)]
    case 'service':
      return [serviceCall(thing, isThere), ...thing.clusters.map((cluster) => clusterCall(thing, cluster))]
    case 'instance':
      return [instanceCall(thing)]
  }
}

function namespaceCall({ id, name, desc }: PlanNamespace, isThere: boolean): OldCall {
  const path = '/v1/console/namespaces'
  return isThere
    ? { method: 'PUT', path, form: { namespace: id, namespaceShowName: name, namespaceDesc: desc } }
    : { method: 'POST', path, form: { customNamespaceId: id, namespaceName: name, namespaceDesc: desc } }
}

/** Notes that are null are left out: they are not known. */
function configCall(config: PlanConfig): OldCall {
  const { namespace, group, dataId, content, encryptedDataKey } = config
  const notes = {
    type: config.type,
    desc: config.desc,
    appName: config.appName,
    config_tags: config.tags,
    use: config.use,
    effect: config.effect,
    schema: config.schema,
    src_user: config.user,
  }
  const known = Object.entries(notes).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  const key = encryptedDataKey === '' ? {} : { encryptedDataKey }
  const form = { dataId, group, tenant: namespace, content, ...Object.fromEntries(known), ...key }
  return { method: 'POST', path: '/v1/cs/configs', form }
}

function serviceCall(service: PlanService, isThere: boolean): OldCall {
  const { namespace, group, name, protectThreshold, selector, metadata } = service
  const form = {
    namespaceId: namespace || 'public',
    serviceName: name,
    groupName: group,
    protectThreshold,
    metadata: JSON.stringify(metadata),
    selector: JSON.stringify(selector.type === 'none' ? { type: 'none' } : selector),
  }
  return { method: isThere ? 'PUT' : 'POST', path: '/v1/ns/service', form }
}

function clusterCall(service: PlanService, cluster: PlanCluster): OldCall {
  const form: OldParams = {
    namespaceId: service.namespace || 'public',
    serviceName: `${service.group}@@${service.name}`,
    clusterName: cluster.name,
    checkPort: cluster.checkPort,
    useInstancePort4Check: cluster.useInstancePort,
    healthChecker: JSON.stringify(cluster.checker),
    metadata: JSON.stringify(cluster.metadata),
  }
  return { method: 'PUT', path: '/v1/ns/cluster', form }
}

function instanceCall(instance: PlanInstance): OldCall {
  const { namespace, group, service, cluster, ip, port, weight, enabled, healthy, metadata } = instance
  const form = {
    namespaceId: namespace || 'public',
    serviceName: `${group}@@${service}`,
    groupName: group,
    clusterName: cluster,
    ip,
    port,
    weight,
    enabled,
    healthy,
    ephemeral: false,
    metadata: JSON.stringify(metadata),
  }
  return { method: 'POST', path: '/v1/ns/instance', form }
}
