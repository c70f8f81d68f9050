import type { State } from '../../core/engine/state.ts'
import type { InstanceTarget } from '../../core/naming/commands/instance-commands.ts'
import { refuseDamagedService } from '../../core/naming/state/damaged-service.ts'
import type { Instance } from '../../core/naming/state/service-entry.ts'
import { Refusal } from '../../core/refusal.ts'
import type { Guard } from '../guard.ts'
import { type InstanceRequest, targetOf, targetThere } from './instance-targets.ts'
import { READ_SERVICE, serviceResource } from './services.ts'

/** Makes the queries about single instances. */
export function instanceReads({ guard, state }: { readonly guard: Guard; readonly state: State }) {
  return {
    /** One instance, or the refusal that names the missing thing: service, cluster or instance. */
    read: guard.operation({
      permission: READ_SERVICE,
      resources: ({ serviceKey }: InstanceRequest) => [serviceResource(serviceKey)],
      run: (request): Instance => {
        refuseDamagedService(state, targetOf(request).serviceKey)
        const target = targetThere(state, request)
        const instance = state.instance(target.serviceKey, target.address)
        const isOther = target.ephemeral !== undefined && instance?.record.ephemeral !== target.ephemeral
        if (instance === undefined || isOther) throw notFound(state, target)
        return instance
      },
    }),
  }
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
