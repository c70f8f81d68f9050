import { itemName, type PlanNote } from '../../plan/plan.ts'
import {
  allPages,
  type Dialect,
  ITEM_PAGES,
  type ListedItem,
  type ListSize,
  type OldPage,
} from './dialect.ts'
import { orNote } from './in-order.ts'
import type { Access } from '../checks/access-lines.ts'

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

/** The users, roles and permissions of a server. Rejects with a CallError if it does not show them. */
export async function accessOf(dialect: Dialect): Promise<Access> {
  const users = await listed(
    (pageNo) => dialect.users(pageNo),
    ({ username }) => username,
  )
  const roles = await listed((pageNo) => dialect.roles(pageNo), JSON.stringify)
  const permissions = await listed((pageNo) => dialect.permissions(pageNo), JSON.stringify)
  return { users, roles, permissions }
}

async function listed<T>(
  page: (pageNo: number) => Promise<OldPage<T>>,
  keyOf: (entry: T) => string,
): Promise<T[]> {
  const found: T[] = []
  for await (const entry of allPages(page, keyOf)) found.push(entry)
  return found
}
