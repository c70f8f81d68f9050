import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { GRAY, type GrayItem } from '../../core/config/state/gray-version.ts'
import { type ConfigSearch, matcherOf, nameMatcher } from '../../core/config/state/search-configs.ts'
import type { State } from '../../core/engine/state.ts'

/** Which items an export has: those that match, or those of some ids. */
export interface ExportedItems {
  readonly search: ConfigSearch
  readonly ids?: readonly number[] | undefined
}

/**
 * The items whose gray versions an export leaves out: those that it has, and those that match by their names and have gray versions
 * only. Nobody can ask for these by an id.
 */
export function grayLeftOut(
  state: Pick<State, 'config' | 'records'>,
  { search, ids }: ExportedItems,
): GrayItem[] {
  const isMeant = ids === undefined ? matching(state, search) : ofIds(state, ids)
  const found: GrayItem[] = []
  for (const [, item] of state.records(GRAY))
    if (item.key.namespaceId === search.namespaceId && isMeant(item.key)) found.push(item)
  return found
}

function matching(state: Pick<State, 'config'>, search: ConfigSearch): (key: ConfigKey) => boolean {
  const matches = matcherOf(search)
  const hasName = nameMatcher(search)
  const isByName = search.appName === '' && search.configTags === '' && search.types.length === 0
  return (key) => {
    const formal = state.config(key)
    return formal === undefined ? isByName && hasName(key) : matches(formal)
  }
}

function ofIds(state: Pick<State, 'config'>, ids: readonly number[]): (key: ConfigKey) => boolean {
  const wanted = new Set(ids)
  return (key) => {
    const formal = state.config(key)
    return formal !== undefined && wanted.has(formal.origin.id)
  }
}
