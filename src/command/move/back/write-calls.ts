import type { PlanCluster, PlanConfig, PlanInstance, PlanNamespace, PlanService } from '../../../move/plan.ts'
import type { OldCall, OldParams } from '../old/old-server.ts'
import type { GoingThing } from './what-goes-back.ts'

/** How an interface writes each kind of thing. */
export interface WriteInterface {
  namespaceCall(namespace: PlanNamespace, isThere: boolean): OldCall
  configCall(config: PlanConfig): OldCall
  serviceCall(service: PlanService, isThere: boolean): OldCall
  clusterCall(service: PlanService, cluster: PlanCluster): OldCall
  instanceCall(instance: PlanInstance): OldCall
}

/** The interface under `/v1`. */
export const V1: WriteInterface = { namespaceCall, configCall, serviceCall, clusterCall, instanceCall }

/** The calls of an interface that write a thing. */
export function callsOf(thing: GoingThing, isThere: boolean, by: WriteInterface): OldCall[] {
  switch (thing.kind) {
    case 'namespace':
      return [by.namespaceCall(thing, isThere)]
    case 'config':
      return [by.configCall(thing)]
    case 'service':
      return [by.serviceCall(thing, isThere), ...thing.clusters.map((one) => by.clusterCall(thing, one))]
    case 'instance':
      return [by.instanceCall(thing)]
  }
}

/** Notes that are null or empty are left out: they are not known. */
export function knownNotes(notes: Readonly<Record<string, string | null>>): Record<string, string> {
  const known = Object.entries(notes).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  return Object.fromEntries(known)
}

function namespaceCall({ id, name, desc }: PlanNamespace, isThere: boolean): OldCall {
  const path = '/v1/console/namespaces'
  return isThere
    ? { method: 'PUT', path, form: { namespace: id, namespaceShowName: name, namespaceDesc: desc } }
    : { method: 'POST', path, form: { customNamespaceId: id, namespaceName: name, namespaceDesc: desc } }
}

function configCall(config: PlanConfig): OldCall {
  const { namespace, group, dataId, content } = config
  const notes = knownNotes({
    type: config.type,
    desc: config.desc,
    appName: config.appName,
    use: config.use,
    effect: config.effect,
    schema: config.schema,
    src_user: config.user,
    encryptedDataKey: config.encryptedDataKey,
  })
  return {
    method: 'POST',
    path: '/v1/cs/configs',
    // Java servers clear the notes that are not named, but for the tags.
    form: { dataId, group, tenant: namespace, content, ...notes, config_tags: config.tags ?? '' },
  }
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
