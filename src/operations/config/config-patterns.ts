import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { KeyPattern } from '../../core/text/key-pattern.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import type { Guard } from '../guard.ts'
import { type PatternKeeper, watchingPatterns } from '../watched-keys.ts'

interface ConfigPatternParts {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'configs'>
  readonly configPatterns: PatternKeeper<ConfigKey>
}

/** Makes the operations for watchers of patterns of configurations. */
export function configPatternOperations({ guard, state, configPatterns: keeper }: ConfigPatternParts) {
  return {
    /** The items that a pattern means, now and later. Refusals `too-many-matches`, `too-many-patterns`. */
    watchPattern: watchingPatterns(guard, {
      permission: READ_CONFIG,
      keeper,
      scope: ({ namespaceId }) => ({ kind: 'some-configs', namespaceId }),
      find: (pattern) => matchingKeys(state, pattern),
      resource: configResource,
      isThere: (key) => state.config(key) !== undefined,
    }),
  }
}

function matchingKeys({ configs }: Pick<State, 'configs'>, pattern: KeyPattern): ConfigKey[] {
  const found: ConfigKey[] = []
  for (const { key } of configs.inNamespace(pattern.namespaceId))
    if (pattern.matches(key.group, key.dataId)) found.push(key)
  return found
}
