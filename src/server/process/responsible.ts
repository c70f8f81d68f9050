import type { ServiceKey } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Responsible } from '../../operations/server/operator.ts'

/** The services and instances that a server judges; without `judges`, all. */
export function responsibleFor(
  state: Pick<State, 'services' | 'instancesInAll'>,
  judges: ((key: ServiceKey) => boolean) | undefined,
): Responsible {
  if (judges === undefined) return { services: state.services.size, instances: state.instancesInAll }
  let services = 0
  let instances = 0
  for (const entry of state.services.all()) {
    if (!judges(entry.service.key)) continue
    services++
    instances += entry.instances.size
  }
  return { services, instances }
}
