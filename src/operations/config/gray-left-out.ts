import { GRAY, type GrayItem } from '../../core/config/state/gray-version.ts'
import { type ConfigSearch, matcherOf, nameMatcher } from '../../core/config/state/search-configs.ts'
import type { State } from '../../core/engine/state.ts'

/** Selects the items of an export: by a search, or by ids. */
export interface ExportedItems {
  readonly search: ConfigSearch
  readonly ids?: readonly number[] | undefined
}

/**
 * The items whose gray versions an export leaves out: the exported items, and items without a formal version whose
 * names match the search. Such items have no id.
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
