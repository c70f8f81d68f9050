import type { SvcClient } from '../client/svc-client.ts'
import { UsageError } from '../command-line.ts'
import { type Account, type Accounts, ADMINISTRATOR_ROLE } from './accounts.ts'

/** The accounts of a running server. */
export class RemoteAccounts implements Accounts {
  readonly #client: SvcClient

  constructor(client: SvcClient) {
    this.#client = client
  }

  async add(username: string, password: string, isAdministrator: boolean): Promise<void> {
    await this.#client.send('POST', '/auth/users', { username, password })
    if (isAdministrator)
      await this.#client.send('POST', '/auth/roles', { username, role: ADMINISTRATOR_ROLE })
  }

  async addFirst(): Promise<boolean> {
    throw new UsageError(
      '--first works on a store: give --data-dir or --etcd-endpoints. A running server prints a one-time code for its first administrator.',
    )
  }

  async setPassword(username: string, newPassword: string): Promise<void> {
    const oldPassword = this.#client.session.passwordOf(username)
    await this.#client.send('PUT', '/auth/users', { username, newPassword, oldPassword })
  }

  async list(): Promise<readonly Account[]> {
    const users = await this.#client.all<{ username: string }>('/auth/users')
    const roles = await this.#client.all<{ username: string; role: string }>('/auth/roles')
    return users.map(({ username }) => ({
      username,
      roles: roles.filter((each) => each.username === username).map(({ role }) => role),
    }))
  }

  async remove(username: string): Promise<void> {
    await this.#client.send('DELETE', '/auth/users', { username })
  }

  async rotateKey(hasLeaked: boolean): Promise<void> {
    await this.#client.send('POST', '/auth/keys/rotate', { leaked: hasLeaked })
  }
}
