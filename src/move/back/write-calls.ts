import type { PlanCluster, PlanConfig, PlanInstance, PlanNamespace, PlanService } from '../../plan/plan.ts'
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

/** The notes of an item. Notes that are null or empty are left out: they are not known. */
export function notesOf(config: PlanConfig, userField: 'src_user' | 'srcUser'): Record<string, string> {
  const { type, desc, appName, use, effect, schema, encryptedDataKey } = config
  const notes = { type, desc, appName, use, effect, schema, [userField]: config.user, encryptedDataKey }
  const known = Object.entries(notes).filter((entry): entry is [string, string] => (entry[1] ?? '') !== '')
  return Object.fromEntries(known)
}

/** The fields of a cluster besides its service. */
export function clusterFields(cluster: PlanCluster): OldParams {
  return {
    clusterName: cluster.name,
    checkPort: cluster.checkPort,
    useInstancePort4Check: cluster.useInstancePort,
    healthChecker: JSON.stringify(cluster.checker),
    metadata: JSON.stringify(cluster.metadata),
  }
}

/** The fields of an instance besides its service. */
export function instanceFields(instance: PlanInstance): OldParams {
  const { cluster: clusterName, ip, port, weight, enabled, healthy } = instance
  const metadata = JSON.stringify(instance.metadata)
  return { clusterName, ip, port, weight, enabled, healthy, ephemeral: false, metadata }
}

function namespaceCall({ id, name, desc }: PlanNamespace, isThere: boolean): OldCall {
  const path = '/v1/console/namespaces'
  return isThere
    ? { method: 'PUT', path, form: { namespace: id, namespaceShowName: name, namespaceDesc: desc } }
    : { method: 'POST', path, form: { customNamespaceId: id, namespaceName: name, namespaceDesc: desc } }
}

function configCall(config: PlanConfig): OldCall {
  const { namespace, group, dataId, content } = config
  const notes = notesOf(config, 'src_user')
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
  const form = {
    namespaceId: service.namespace || 'public',
    serviceName: `${service.group}@@${service.name}`,
    ...clusterFields(cluster),
  }
  return { method: 'PUT', path: '/v1/ns/cluster', form }
}

function instanceCall(instance: PlanInstance): OldCall {
  const { namespace, group, service } = instance
  const form = {
    namespaceId: namespace || 'public',
    serviceName: `${group}@@${service}`,
    groupName: group,
    ...instanceFields(instance),
  }
  return { method: 'POST', path: '/v1/ns/instance', form }
}
