import type { KeyPattern } from '../../core/text/key-pattern.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { Guard } from '../guard.ts'
import { READ_SERVICE, serviceResource, someServices } from './services.ts'
import { type PatternKeeper, watchingPatterns } from '../watched-keys.ts'

interface ServicePatternParts {
  readonly guard: Guard
  readonly state: Pick<State, 'service' | 'services'>
  readonly servicePatterns: PatternKeeper<ServiceKey>
}

/** Makes the operations for watchers of patterns of services. */
export function servicePatternOperations({ guard, state, servicePatterns: keeper }: ServicePatternParts) {
  return {
    /** The services that a pattern means, now and later. Refusals `too-many-matches`, `too-many-patterns`. */
    watchPattern: watchingPatterns(guard, {
      permission: READ_SERVICE,
      keeper,
      scope: someServices,
      find: (pattern) => matchingKeys(state, pattern),
      resource: serviceResource,
      isThere: (key) => state.service(key) !== undefined,
    }),
  }
}

function matchingKeys({ services }: Pick<State, 'services'>, pattern: KeyPattern): ServiceKey[] {
  const { namespaceId } = pattern
  return services
    .names(namespaceId, undefined)
    .filter((name) => pattern.matches(groupOf(name), serviceNameOf(name)))
    .map((groupedName) => ({ namespaceId, groupedName }))
}
