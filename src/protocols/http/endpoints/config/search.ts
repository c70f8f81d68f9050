import { type ConfigSearch, searchConfigs } from '../../../../core/config/search-configs.ts'
import { Refusal } from '../../../../core/refusal.ts'
import type { State } from '../../../../core/state.ts'
import { foundJson } from './item-json.ts'
import { pageJson, toPage, type PageWish } from './page-json.ts'

/** What the contents of one page may weigh together: they are all in memory at once, more than once. */
const MAX_PAGE_BYTES = 64 * 1024 * 1024

/** A page of the items that match, with their contents; Refusal `too-large` where those weigh too much. */
export function searchPage(
  { configs }: Pick<State, 'configs'>,
  search: ConfigSearch,
  wish: PageWish,
): object {
  const page = toPage(wish)
  const { totalCount, items } = searchConfigs(configs, search, page)
  const bytes = items.reduce((sum, item) => sum + item.content.length, 0)
  if (bytes > MAX_PAGE_BYTES) {
    const allowed = `a page whose contents have at most ${MAX_PAGE_BYTES} bytes in all`
    const message = `pageSize must give ${allowed}, but these have ${bytes}: ask for a smaller page.`
    throw new Refusal('too-large', message, { parameter: 'pageSize', allowed })
  }
  return pageJson(page, totalCount, items.map(foundJson))
}
