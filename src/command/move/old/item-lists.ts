import { itemName, type PlanNote } from '../../../move/plan.ts'
import { allPages, type Dialect, ITEM_PAGES, type ListedItem, type ListSize } from './dialect.ts'
import { orNote } from './in-order.ts'

const LIST = 'items of'

/** Gives each listed item of a namespace to `add`. Resolves with a note if the list is unreadable or too short. */
export async function listItems(
  dialect: Dialect,
  namespace: string,
  add: (item: ListedItem) => void,
): Promise<PlanNote | undefined> {
  const pages = allPages((_, page) => dialect.items(namespace, page), itemName, ITEM_PAGES)
  const name = `${LIST} ${namespace || 'public'}`
  const listed = await orNote('config', name, () => given(pages, add))
  if ('kind' in listed) return listed
  return listed.total !== null && listed.total > listed.found ? shortList(name, listed) : undefined
}

/** Whether a note reports a list that was shorter than its total. */
export function isShortList({ kind, about, name }: PlanNote): boolean {
  return kind === 'remark' && about === 'config' && name.startsWith(`${LIST} `)
}

/** Passes the entries to `add`, and resolves with the result of the generator. */
async function given<T, R>(pages: AsyncGenerator<T, R>, add: (entry: T) => void): Promise<R> {
  for (;;) {
    const next = await pages.next()
    if (next.done === true) return next.value
    add(next.value)
  }
}

function shortList(name: string, { total, found }: ListSize): PlanNote {
  const reason = `the server says ${total}, and lists ${found}`
  return { kind: 'remark', about: 'config', name, reason, missed: true }
}
