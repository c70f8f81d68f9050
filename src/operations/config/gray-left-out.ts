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
  state: Pick<State, 'configs' | 'gray' | 'record'>,
  { search, ids }: ExportedItems,
): GrayItem[] {
  return ids === undefined ? matching(state, search) : ofIds(state, search.namespaceId, ids)
}

function matching({ configs, gray }: Pick<State, 'configs' | 'gray'>, search: ConfigSearch): GrayItem[] {
  const matches = matcherOf(search)
  const hasName = nameMatcher(search)
  const isByName = search.appName === '' && search.configTags === '' && search.types.length === 0
  return Array.from(gray.inNamespace(search.namespaceId)).filter(({ key }) => {
    const formal = configs.get(key)
    return formal === undefined ? isByName && hasName(key) : matches(formal)
  })
}

function ofIds(
  state: Pick<State, 'configs' | 'record'>,
  namespaceId: string,
  ids: readonly number[],
): GrayItem[] {
  return Array.from(new Set(ids)).flatMap((id) => {
    const key = state.configs.getById(id)?.key
    if (key?.namespaceId !== namespaceId) return []
    return state.record(GRAY, key.text) ?? []
  })
}
