import type { Access } from '../checks/access-lines.ts'
import { allPages, type Dialect, type OldPage } from './dialect.ts'

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
