import type { ConfigItem } from '../../core/config/state/config-item.ts'
import type { Search } from './content-search.ts'
import { sortedInTurns } from './first-entries.ts'
import type { Turns } from '../../core/work/long-walks.ts'

/** The most bytes of contents that one request reads: more than 100,000 items of 1.5 KB have. */
const MOST_BYTES = 256 * 1024 * 1024

/** The items whose contents one request searches. */
export interface ContentPortion {
  readonly items: readonly ConfigItem[]
  /** The key of the last item, if there are more: the next request continues after it. */
  readonly next: string | undefined
}

/**
 * The items that one request searches: all items or, if they have very many bytes, the first ones by key. `after` is
 * the `next` of the portion before.
 */
export async function contentPortion(
  items: readonly ConfigItem[],
  after: string | undefined,
  turns: Turns,
): Promise<ContentPortion> {
  const left = after === undefined ? items : items.filter(({ key }) => key.text > after)
  if (fitting(left) === left.length) return { items: left, next: undefined }
  const sorted = await sortedInTurns(left, (a, b) => (a.key.text < b.key.text ? -1 : 1), turns)
  const portion = sorted.slice(0, fitting(sorted))
  return { items: portion, next: portion.at(-1)?.key.text }
}

/** How many items one request may read; at least one. */
function fitting(items: readonly ConfigItem[]): number {
  let bytes = 0
  const over = items.findIndex(({ content }) => (bytes += content.length) > MOST_BYTES)
  return over < 0 ? items.length : Math.max(over, 1)
}

/** Carries out a search in a content; others have their turn between its pieces. */
export async function inTurns<T>(search: Search<T>, turns: Turns): Promise<T> {
  for (;;) {
    const step = search.next()
    if (step.done === true) return step.value
    if (turns.isDue) await turns.turn()
  }
}
