import { DEFAULT_CLUSTER, instanceIdOf } from '../../../../core/naming/instance.ts'
import type { InstanceTarget } from '../../../../core/naming/instance-commands.ts'
import type { ServiceKey } from '../../../../core/naming/service.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { State } from '../../../../core/state.ts'
import { jsonAnswer } from '../../routing/answers.ts'
import type { Answer } from '../../routing/route.ts'

/** The instance detail object, or the refusal that says what is not there: service, cluster or instance. */
export function detailAnswer(state: State, target: InstanceTarget): Answer {
  const { serviceKey, address } = target
  const { groupedName } = serviceKey
  const instance = state.instance(serviceKey, address)
  const wrongKind = target.ephemeral !== undefined && instance?.record.ephemeral !== target.ephemeral
  if (instance === undefined || wrongKind) throw notFound(state, target)
  return jsonAnswer({
    service: groupedName,
    ip: address.ip,
    port: address.port,
    clusterName: address.cluster,
    weight: instance.record.weight,
    healthy: instance.healthy,
    instanceId: instanceIdOf(address, groupedName),
    metadata: instance.metadata,
  })
}

function notFound(state: State, { serviceKey, address }: InstanceTarget): Refusal {
  const names = { serviceName: serviceKey.groupedName, cluster: address.cluster }
  const entry = state.services.get(serviceKey)
  if (entry === undefined)
    return new Refusal('service-not-found', `no service ${names.serviceName} found!`, { names })
  const text = entry.clusterSizes.has(address.cluster)
    ? 'no matched ip found!'
    : `no ips found for cluster ${names.cluster} in service ${names.serviceName}`
  return new Refusal('instance-not-found', text, { names })
}

/** The refusal of what is about an instance that is not there. */
export function instanceNotFound(
  key: ServiceKey,
  source: { ip: string; port: number; cluster: string | undefined },
): Refusal {
  const cluster = source.cluster ?? DEFAULT_CLUSTER
  const id = instanceIdOf({ ip: source.ip, port: source.port, cluster }, key.groupedName)
  return new Refusal('instance-not-found', `instance ${id} not found in namespace ${key.namespaceId}`, {
    names: { serviceName: key.groupedName, cluster },
  })
}
