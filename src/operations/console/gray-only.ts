import type { ConfigKey } from '../../core/config/state/config-item.ts'
import { GRAY, type GrayItem } from '../../core/config/state/gray-version.ts'
import type { State } from '../../core/engine/state.ts'
import type { ConfigFilter } from './config-filter.ts'

/** The most such items of an answer. */
const MOST_GRAY_ONLY = 1_000

/** Which items are looked for; `namespaceId` undefined: those of every namespace. */
interface GrayOnlyFilter extends ConfigFilter {
  readonly namespaceId: string | undefined
}

/**
 * The items that match and have gray versions, but no formal one: at most {@link MOST_GRAY_ONLY}, by their names. Without a formal
 * version an item has no type, no tags and no content to look for.
 */
export function grayOnlyItems(
  state: Pick<State, 'config' | 'records'>,
  filter: GrayOnlyFilter,
  isShown: (key: ConfigKey) => boolean,
): GrayItem[] {
  const { namespaceId, group, content, key: path, types, configTags } = filter
  if (content !== '' || path !== '' || types.length > 0 || configTags !== '') return []
  const text = filter.text.toLowerCase()
  const found: GrayItem[] = []
  for (const [, item] of state.records(GRAY)) {
    const { key } = item
    if (namespaceId !== undefined && key.namespaceId !== namespaceId) continue
    if (group !== '' && key.group !== group) continue
    if (![key.dataId, key.group].some((name) => name.toLowerCase().includes(text))) continue
    if (state.config(key) === undefined && isShown(key)) found.push(item)
  }
  return found.sort((a, b) => (a.key.text < b.key.text ? -1 : 1)).slice(0, MOST_GRAY_ONLY)
}
