import type { ConfigKey } from '../../core/config/state/config-item.ts'
import type { GrayItem } from '../../core/config/state/gray-version.ts'
import type { State } from '../../core/engine/state.ts'
import type { Turns } from '../../core/work/long-walks.ts'
import { type Page, type PageRequest, pageOf } from '../page.ts'
import type { ConfigFilter } from './config-filter.ts'
import { FirstEntries } from './first-entries.ts'

/** Selects items; `namespaceId` undefined: in every namespace. */
interface GrayOnlyFilter extends ConfigFilter {
  readonly namespaceId: string | undefined
}

/** A search for items with gray versions only, as far as the caller may read them. */
interface GrayOnlySearch {
  readonly filter: GrayOnlyFilter
  readonly page: PageRequest
  readonly isShown: (key: ConfigKey) => boolean
}

/** A page of items, and whether it took too long to look at every item. */
interface GrayOnlyPage extends Page<GrayItem> {
  readonly isTruncated: boolean
}

/**
 * A page of the items with gray versions only whose names match. Without a formal version an item has no type, tags or
 * content to search.
 */
export async function grayOnlyPage(
  { gray }: Pick<State, 'gray'>,
  { filter, page, isShown }: GrayOnlySearch,
  turns: Turns,
): Promise<GrayOnlyPage> {
  const first = new FirstEntries<GrayItem>(page.pageNo * page.pageSize, byName)
  const isMeant = grayOnlyFilter(filter)
  let isTruncated = false
  for (const item of isMeant === undefined ? [] : onlyGrayOf(gray, filter.namespaceId)) {
    if (turns.isDue && !(await turns.turn())) {
      isTruncated = true
      break
    }
    if (isMeant?.(item) === true && isShown(item.key)) first.add(item)
  }
  return { entries: pageOf(await first.sorted(turns), page), totalCount: first.count, isTruncated }
}

/**
 * The items with gray versions only, of a namespace or of all. Those of each namespace are copied when its turn comes:
 * the items may change between two turns.
 */
export function* onlyGrayOf(gray: State['gray'], namespaceId: string | undefined): Generator<GrayItem> {
  const namespaces = namespaceId === undefined ? Array.from(gray.namespaces()) : [namespaceId]
  for (const each of namespaces) yield* Array.from(gray.onlyGray(each))
}

function byName(a: GrayItem, b: GrayItem): number {
  return a.key.text < b.key.text ? -1 : 1
}

/** Undefined: no such item can match. */
function grayOnlyFilter(filter: GrayOnlyFilter): ((item: GrayItem) => boolean) | undefined {
  const { group, content, key: path, types, configTags } = filter
  if (content !== '' || path !== '' || types.length > 0 || configTags !== '') return undefined
  const text = filter.text.toLowerCase()
  return ({ key }) =>
    (group === '' || key.group === group) &&
    (text === '' || [key.dataId, key.group].some((name) => name.toLowerCase().includes(text)))
}
