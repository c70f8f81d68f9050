import { type Account, type Accounts, ADMINISTRATOR_ROLE } from './accounts.ts'
import { problemOf, type ServerSession } from './server-session.ts'

const AUTH = '/svc/v1/auth'
const PAGE_SIZE = 500

interface Page<T> {
  readonly pagesAvailable: number
  readonly pageItems: readonly T[]
}

/** The accounts of a running server. */
export class RemoteAccounts implements Accounts {
  readonly #session: ServerSession

  constructor(session: ServerSession) {
    this.#session = session
  }

  async add(username: string, password: string, isAdministrator: boolean): Promise<void> {
    await this.#send('POST', '/users', { username, password })
    if (isAdministrator) await this.#send('POST', '/roles', { username, role: ADMINISTRATOR_ROLE })
  }

  setPassword(username: string, newPassword: string): Promise<void> {
    const oldPassword = this.#session.passwordOf(username)
    const old = oldPassword === undefined ? {} : { oldPassword }
    return this.#send('PUT', '/users', { username, newPassword, ...old })
  }

  async list(): Promise<readonly Account[]> {
    const users = await this.#all<{ username: string }>('/users')
    const roles = await this.#all<{ username: string; role: string }>('/roles')
    return users.map(({ username }) => ({
      username,
      roles: roles.filter((each) => each.username === username).map(({ role }) => role),
    }))
  }

  remove(username: string): Promise<void> {
    return this.#send('DELETE', `/users?${new URLSearchParams({ username }).toString()}`)
  }

  rotateKey(hasLeaked: boolean): Promise<void> {
    return this.#send('POST', '/keys/rotate', { leaked: String(hasLeaked) })
  }

  async #all<T>(path: string): Promise<T[]> {
    const found: T[] = []
    for (let pageNo = 1, pages = 1; pageNo <= pages; pageNo++) {
      const answer = await this.#session.fetch(`${AUTH}${path}?pageNo=${pageNo}&pageSize=${PAGE_SIZE}`)
      if (!answer.ok) throw new Error(problemOf(answer.status, await answer.text()))
      const { pagesAvailable, pageItems } = (await answer.json()) as Page<T>
      found.push(...pageItems)
      pages = pagesAvailable
    }
    return found
  }

  async #send(method: string, path: string, form: Record<string, string> = {}): Promise<void> {
    const body = method === 'DELETE' ? {} : { body: new URLSearchParams(form) }
    const answer = await this.#session.fetch(`${AUTH}${path}`, { method, ...body })
    if (!answer.ok) throw new Error(problemOf(answer.status, await answer.text()))
  }
}
