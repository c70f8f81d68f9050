import type { ItemClient } from '../../core/clients/client-views.ts'
import type { GrayVersion } from '../../core/config/state/gray-version.ts'

/**
 * What a client of an item has. `gray`: the gray version that is for it. `formal`: the formal one, which is for it. `behind`: another
 * text. `unknown`: nobody can tell.
 */
export const CLIENT_HAS = ['gray', 'formal', 'behind', 'unknown'] as const

/** One of {@link CLIENT_HAS}. */
export type ClientHas = (typeof CLIENT_HAS)[number]

/** The versions of an item: the md5 of its formal version, empty if there is none, and its gray versions. */
export interface ThereIs {
  readonly md5: string
  readonly versions: readonly Pick<GrayVersion, 'md5' | 'rule'>[]
}

/**
 * Compares what a client has with what is for it. In two cases nobody knows. A server of an earlier build does not say what is for its
 * clients. And a client may have asked for the version of a tag by name: nothing says so while it listens.
 */
export function whatClientHas(
  { md5, seen }: Pick<ItemClient, 'md5' | 'seen'>,
  { md5: formal, versions }: ThereIs,
): ClientHas {
  if (seen === undefined && versions.length > 0) return 'unknown'
  if (md5 === (seen?.md5 ?? formal)) return seen?.gray === undefined ? 'formal' : 'gray'
  const mayBeAsked = versions.some((version) => version.rule.type === 'tag' && version.md5 === md5)
  return mayBeAsked ? 'unknown' : 'behind'
}
