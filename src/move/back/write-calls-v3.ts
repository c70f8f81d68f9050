import type { PlanCluster, PlanConfig, PlanInstance, PlanNamespace, PlanService } from '../../plan/plan.ts'
import type { OldCall, OldParams } from '../old/old-server.ts'
import { clusterFields, instanceFields, notesOf, type WriteInterface } from './write-calls.ts'

/** The admin interface of 3.x. A 200 may be a refusal there: the answer has a code. */
export const V3: WriteInterface = { namespaceCall, configCall, serviceCall, clusterCall, instanceCall }

function namespaceCall({ id, name, desc }: PlanNamespace, isThere: boolean): OldCall {
  const form = { namespaceId: id, namespaceName: name, namespaceDesc: desc }
  return { method: isThere ? 'PUT' : 'POST', path: '/v3/admin/core/namespace', form }
}

function configCall(config: PlanConfig): OldCall {
  const { namespace, group, dataId, content } = config
  const notes = notesOf(config, 'srcUser')
  const form = {
    dataId,
    groupName: group,
    namespaceId: namespace || 'public',
    content,
    ...notes,
    configTags: config.tags ?? '',
  }
  return { method: 'POST', path: '/v3/admin/cs/config', form }
}

/** A service there has instances of one kind; if it is unknown, they are ephemeral, as clients register them. */
function serviceCall(service: PlanService, isThere: boolean): OldCall {
  const { protectThreshold, selector, metadata, ephemeral } = service
  const form = {
    ...namesOf(service),
    protectThreshold,
    metadata: JSON.stringify(metadata),
    selector: JSON.stringify(selector.type === 'none' ? { type: 'none' } : selector),
    ...(isThere ? {} : { ephemeral: ephemeral ?? true }),
  }
  return { method: isThere ? 'PUT' : 'POST', path: '/v3/admin/ns/service', form }
}

function namesOf({ namespace, group, name }: Pick<PlanService, 'namespace' | 'group' | 'name'>): OldParams {
  return { namespaceId: namespace || 'public', groupName: group, serviceName: name }
}

function clusterCall(service: PlanService, cluster: PlanCluster): OldCall {
  const form = { ...namesOf(service), ...clusterFields(cluster) }
  return { method: 'PUT', path: '/v3/admin/ns/cluster', form }
}

function instanceCall(instance: PlanInstance): OldCall {
  const form = { ...namesOf({ ...instance, name: instance.service }), ...instanceFields(instance) }
  return { method: 'POST', path: '/v3/admin/ns/instance', form }
}
