import type { Change } from '../core/decisions/changes.ts'
import { groupOf, type ServiceKey, serviceNameOf } from '../core/naming/state/service.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import type { Loop } from '../core/work/sliced-work.ts'
import { type NamedThing, PatternWatch } from './pattern-watch.ts'

/** How many clients may watch patterns of services, each of their patterns counted. */
const MOST_WATCHERS = 100_000

/** Those who watch new and removed services by patterns of their names. */
export function servicePatterns(loop: Loop, memory = new ClientMemory()): PatternWatch<ServiceKey> {
  return new PatternWatch({ loop, touchedBy, most: MOST_WATCHERS, memory })
}

/** A service that is changed is saved too: its watchers know it already. */
function touchedBy(change: Change): NamedThing<ServiceKey> | undefined {
  if (change.kind === 'service-deleted') return named(change.key)
  return change.kind === 'service-saved' ? named(change.service.key) : undefined
}

function named(key: ServiceKey): NamedThing<ServiceKey> {
  const { namespaceId, groupedName } = key
  return { key, namespaceId, group: groupOf(groupedName), name: serviceNameOf(groupedName) }
}
