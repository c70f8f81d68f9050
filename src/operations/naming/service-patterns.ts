import type { KeyPattern } from '../../core/text/key-pattern.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../../core/naming/state/service.ts'
import type { State } from '../../core/engine/state.ts'
import type { PatternKeeper, PatternRequest } from '../config/config-patterns.ts'
import type { Guard } from '../guard.ts'
import { READ_SERVICE, serviceResource, someServices } from './services.ts'
import { refuseManyMatches, tooManyPatterns, type WatchedKeys } from '../watched-keys.ts'

/** Makes the operations for watchers of patterns of services. */
export function servicePatternOperations({
  guard,
  state,
  servicePatterns,
}: {
  readonly guard: Guard
  readonly state: Pick<State, 'service' | 'services'>
  readonly servicePatterns: PatternKeeper<ServiceKey>
}) {
  return {
    /** The services that a pattern means, now and later. Refusals `too-many-matches`, `too-many-patterns`. */
    watchPattern: guard.listing({
      permission: READ_SERVICE,
      scope: ({ pattern }: PatternRequest<ServiceKey>) => someServices(pattern),
      find: ({ pattern }) => matchingKeys(state, pattern),
      resource: serviceResource,
      run: (keys, { pattern, touched }, caller): WatchedKeys<ServiceKey> => {
        refuseManyMatches(keys.length)
        const mayRead = guard.whileConnected(caller, 'read')
        const isShown = (key: ServiceKey): boolean => mayRead?.(serviceResource(key)) !== false
        const watcher = {
          touched: (key: ServiceKey): void => {
            if (isShown(key)) touched(key)
          },
        }
        const hold = servicePatterns.watch(pattern, watcher)
        if (hold === 'too-many') throw tooManyPatterns('fewer patterns on all connections together')
        const isThere = (key: ServiceKey): boolean => state.service(key) !== undefined && isShown(key)
        return { keys, isThere, leave: () => hold.leave() }
      },
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
