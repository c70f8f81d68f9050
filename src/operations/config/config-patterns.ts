import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { KeyPattern } from '../../core/text/key-pattern.ts'
import type { State } from '../../core/engine/state.ts'
import { configResource, READ_CONFIG } from './configs.ts'
import type { Guard, Resource } from '../guard.ts'
import { refuseManyMatches, tooManyPatterns, type WatchedKeys } from '../watched-keys.ts'

/** Keeps the watchers of patterns. */
export interface PatternKeeper<Key> {
  watch(pattern: KeyPattern, watcher: { touched(key: Key): void }): { leave(): void } | 'too-many'
}

/** A pattern that a client watches. */
export interface PatternRequest<Key> {
  readonly pattern: KeyPattern
  /** Called when an item that matches, and that the caller may read, has appeared or disappeared. */
  readonly touched: (key: Key) => void
}

/** Makes the operations for watchers of patterns of configurations. */
export function configPatternOperations({
  guard,
  state,
  configPatterns,
}: {
  readonly guard: Guard
  readonly state: Pick<State, 'config' | 'configs'>
  readonly configPatterns: PatternKeeper<ConfigKey>
}) {
  return {
    /** The items that a pattern means, now and later. Refusals `too-many-matches`, `too-many-patterns`. */
    watchPattern: guard.listing({
      permission: READ_CONFIG,
      scope: ({ pattern }: PatternRequest<ConfigKey>): Resource => {
        return { kind: 'some-configs', namespaceId: pattern.namespaceId }
      },
      find: ({ pattern }) => matchingKeys(state, pattern),
      resource: configResource,
      run: (keys, { pattern, touched }, caller): WatchedKeys<ConfigKey> => {
        refuseManyMatches(keys.length)
        const mayRead = guard.whileConnected(caller, 'read')
        const isShown = (key: ConfigKey): boolean => mayRead?.(configResource(key)) !== false
        const watcher = {
          touched: (key: ConfigKey): void => {
            if (isShown(key)) touched(key)
          },
        }
        const hold = configPatterns.watch(pattern, watcher)
        if (hold === 'too-many') throw tooManyPatterns('fewer patterns on all connections together')
        const isThere = (key: ConfigKey): boolean => state.config(key) !== undefined && isShown(key)
        return { keys, isThere, leave: () => hold.leave() }
      },
    }),
  }
}

function matchingKeys({ configs }: Pick<State, 'configs'>, pattern: KeyPattern): ConfigKey[] {
  const found: ConfigKey[] = []
  for (const { key } of configs.inNamespace(pattern.namespaceId))
    if (pattern.matches(key.group, key.dataId)) found.push(key)
  return found
}
