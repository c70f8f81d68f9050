import type { ItemClient } from '../../core/clients/client-views.ts'
import type { GrayVersion } from '../../core/config/state/gray-version.ts'

/**
 * The version that a client of an item has. `gray` or `formal`: the current gray or formal version for it. `behind`:
 * another text. `away`: its poll was answered, and it has not come back. `unknown`: nobody can tell.
 */
export const CLIENT_HAS = ['gray', 'formal', 'behind', 'away', 'unknown'] as const

/** One of {@link CLIENT_HAS}. */
export type ClientHas = (typeof CLIENT_HAS)[number]

/**
 * Compares the version that a client has with the version for it. One case is unknown: a listening client does not say
 * that it asked for the version of a tag.
 */
export function whatClientHas(
  { md5, seen, isAway = false }: Pick<ItemClient, 'md5' | 'seen' | 'isAway'>,
  versions: readonly Pick<GrayVersion, 'md5' | 'rule'>[],
): ClientHas {
  if (md5 === seen.md5) return seen.gray === undefined ? 'formal' : 'gray'
  const mayBeAsked = versions.some((version) => version.rule.type === 'tag' && version.md5 === md5)
  if (mayBeAsked) return 'unknown'
  return isAway ? 'away' : 'behind'
}
