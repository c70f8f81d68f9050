import type { Change } from '../core/decisions/changes.ts'
import type { ConfigKey } from '../core/config/state/config-item.ts'
import { ClientMemory } from '../core/memory/client-memory.ts'
import type { Loop } from '../core/work/sliced-work.ts'
import { type NamedThing, PatternWatch } from './pattern-watch.ts'

/** How many clients may watch patterns of configurations, each of their patterns counted. */
const MOST_WATCHERS = 100_000

/** Those who watch new and deleted items by patterns of their names. */
export function configPatterns(loop: Loop, memory = new ClientMemory()): PatternWatch<ConfigKey> {
  return new PatternWatch({ loop, touchedBy, most: MOST_WATCHERS, memory })
}

function touchedBy(change: Change): NamedThing<ConfigKey> | undefined {
  if (change.kind === 'config-deleted') return named(change.key)
  return change.kind === 'config-published' && change.op === 'I' ? named(change.item.key) : undefined
}

function named(key: ConfigKey): NamedThing<ConfigKey> {
  return { key, namespaceId: key.namespaceId, group: key.group, name: key.dataId }
}
