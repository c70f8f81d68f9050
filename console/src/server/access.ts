import type { RolePermission, UserRole } from './answers.ts'
import type { ListPage } from './configs.ts'
import { type Params, request } from './request.ts'

export type { RolePermission } from './answers.ts'

const AUTH = 'svc/v1/auth'
const PAGE_SIZE = 100

/** The role that may do everything. */
export const ADMINISTRATOR_ROLE = 'ROLE_ADMIN'

/** A page of users, roles or permissions; `text` is a part of the name. */
const find = <T>(what: string, parameter: string, { text, pageNo }: Search): Promise<ListPage<T>> =>
  request('GET', `${AUTH}/${what}`, {
    query: {
      search: 'blur',
      [parameter]: text === '' ? undefined : `*${text}*`,
      pageNo,
      pageSize: PAGE_SIZE,
    },
  })

/** The search of a list. */
export interface Search {
  readonly text: string
  readonly pageNo: number
}

/** How many entries a page of these lists has. */
export const ACCESS_PAGE_SIZE = PAGE_SIZE

export const findUsers = (search: Search): Promise<ListPage<{ username: string }>> =>
  find('users', 'username', search)
export const findRoles = (search: Search): Promise<ListPage<UserRole>> => find('roles', 'role', search)
export const findPermissions = (search: Search): Promise<ListPage<RolePermission>> =>
  find('permissions', 'role', search)

export const createUser = (username: string, password: string): Promise<object> =>
  request('POST', `${AUTH}/users`, { form: { username, password } })
export const setPassword = (username: string, newPassword: string): Promise<object> =>
  request('PUT', `${AUTH}/users`, { form: { username, newPassword } })
export const removeUser = (username: string): Promise<object> =>
  request('DELETE', `${AUTH}/users`, { query: { username } })

export const addRole = ({ role, username }: UserRole): Promise<object> =>
  request('POST', `${AUTH}/roles`, { form: { role, username } })
export const removeRole = ({ role, username }: UserRole): Promise<object> =>
  request('DELETE', `${AUTH}/roles`, { query: { role, username } })

export const addPermission = ({ role, resource, action }: RolePermission): Promise<object> =>
  request('POST', `${AUTH}/permissions`, { form: { role, resource, action } })
export const removePermission = ({ role, resource, action }: RolePermission): Promise<object> =>
  request('DELETE', `${AUTH}/permissions`, { query: { role, resource, action } })

const MOST = 500

/** The first entries of a list. */
async function most<T>(what: string, params: Params): Promise<readonly T[]> {
  const query = { search: 'accurate', ...params, pageNo: 1, pageSize: MOST }
  return (await request<ListPage<T>>('GET', `${AUTH}/${what}`, { query })).pageItems
}

/** The roles of a user. */
export async function rolesOf(username: string): Promise<string[]> {
  return (await most<UserRole>('roles', { username })).map(({ role }) => role)
}

/** A permission of a role. */
export const permissionsOf = (role: string): Promise<readonly RolePermission[]> =>
  most('permissions', { role })

/** The roles and permissions of all users, of very many the first ones. */
export const allRoles = (): Promise<readonly UserRole[]> => most('roles', {})
export const allPermissions = (): Promise<readonly RolePermission[]> => most('permissions', {})
