import { resolve } from 'node:path'
import type { ServerFlags } from '../../../terminal/server-options.ts'
import { namesServer, targetOf, tokenOf, SvcClient } from '../../../terminal/session-of-flags.ts'
import { ServerSession } from '../../../terminal/server-session.ts'
import { type CommandResult, done, EXIT, UsageError } from '../../../command/command-line.ts'
import { type EtcdFlags, etcdOf, ofStoppedServer } from '../stopped-server.ts'
import { table } from '../../../command/terminal-text.ts'
import {
  type Accounts,
  type StoredPlace,
  type WithStoredAccounts,
  type Account,
  ADMINISTRATOR_ROLE,
} from './accounts.ts'
import { PasswordInput } from '../../../command/password-input.ts'

/** The flags for the place of the accounts. */
export interface PlaceFlags extends ServerFlags, EtcdFlags {
  readonly dataDir?: string
}

/** The flags of `waypost user add`. */
export interface AddFlags extends PlaceFlags {
  readonly admin?: boolean
  readonly first?: boolean
  readonly passwordFile?: string
}

/** `waypost user` and `waypost key`, on a running server or on a store. */
export class AccountCommands {
  readonly #withStored: WithStoredAccounts

  constructor(withStored: WithStoredAccounts) {
    this.#withStored = withStored
  }

  /** The password comes from a file, from a prompt or from standard input. */
  add(
    name: string,
    { admin = false, first = false, passwordFile, ...place }: AddFlags,
  ): Promise<CommandResult> {
    return this.#atPlace({ ...place, mayBeNew: true }, async (accounts, passwords) => {
      const password = () =>
        passwordFile === undefined ? passwords.chosen(name) : passwords.inFile(passwordFile)
      if (first) {
        const isMade = await accounts.addFirst(name, password)
        return done(
          isMade
            ? `The user ${name} is the first administrator.${storeText(accounts)}`
            : 'There is an administrator already: nothing was changed.',
        )
      }
      await accounts.add(name, await password(), admin)
      return done(
        `The user ${name} is made${admin ? ', and is an administrator' : ' and may do nothing yet'}.${storeText(accounts)}`,
      )
    })
  }

  setPassword(name: string, place: PlaceFlags): Promise<CommandResult> {
    return this.#atPlace(place, async (accounts, passwords) => {
      await accounts.setPassword(name, await passwords.chosen(name))
      return done(
        `The user ${name} has a new password. Tokens and sessions made with the old one have ended.`,
      )
    })
  }

  list(place: PlaceFlags): Promise<CommandResult> {
    return this.#atPlace(place, async (accounts) => {
      const found = await accounts.list()
      return {
        code: EXIT.done,
        painted: table(
          ['USER', 'ROLES'],
          found.map(({ username, roles }) => [username, roles.join(', ')]),
        ),
        json: found,
        names: found.map(({ username }) => username),
      }
    })
  }

  remove(name: string, place: PlaceFlags): Promise<CommandResult> {
    return this.#atPlace(place, async (accounts) => {
      await accounts.remove(name)
      return done(`The user ${name} is removed, with its roles and sessions.`)
    })
  }

  rotateKey({ leaked = false, ...place }: PlaceFlags & { leaked?: boolean }): Promise<CommandResult> {
    return this.#atPlace(place, async (accounts) => {
      await accounts.rotateKey(leaked)
      return done(`A new key signs tokens from now on. ${leaked ? OLD_TOKENS_ENDED : OLD_TOKENS_COUNT}`)
    })
  }

  async rotatePeerSecret(place: PlaceFlags): Promise<CommandResult> {
    if (place.etcdEndpoints === undefined) throw new UsageError(WHERE_PEERS)
    return this.#atPlace(place, async (accounts) => {
      if (accounts.rotatePeerSecret === undefined) throw new UsageError(WHERE_PEERS)
      const isBegun = await accounts.rotatePeerSecret()
      return done(isBegun ? `The servers have another secret. ${PEERS_FOLLOW}` : PEERS_ROTATE)
    })
  }

  async #atPlace(place: AccountsPlace, work: UserWork): Promise<CommandResult> {
    const passwords = new PasswordInput()
    const stored = storedPlace(place)
    if (stored === undefined) {
      const target = targetOf(place)
      const session = new ServerSession(target.url, {
        origin: target.origin,
        username: place.username,
        stored: tokenOf(target),
        passwords,
      })
      // The caller's own password is read first, then the user's password.
      await session.headers()
      return work(new RemoteAccounts(new SvcClient(session, '')), passwords)
    }
    if (namesServer(place)) throw new UsageError(ONE_PLACE)
    return ofStoppedServer(() => this.#withStored(stored, (accounts) => work(accounts, passwords)))
  }
}

interface AccountsPlace extends PlaceFlags {
  readonly mayBeNew?: boolean
}

/** A wrong name of a directory is noticed by this. */
function storeText({ newStore }: Accounts): string {
  return newStore === undefined ? '' : ` The store in ${newStore} is new.`
}

type UserWork = (accounts: Accounts, passwords: PasswordInput) => Promise<CommandResult>

const OLD_TOKENS_ENDED = 'The tokens of the old one have ended: everybody signs in again.'
const OLD_TOKENS_COUNT = 'The old one verifies until its last token has expired.'
const WHERE_PEERS = 'The servers share the secret in etcd: name its members with --etcd-endpoints.'
const PEERS_FOLLOW =
  'They use it within a minute, and then no longer accept the old one. Servers that are stopped do so when they run.'
const PEERS_ROTATE = 'The servers are about to use another secret already: nothing was changed.'

const ONE_PLACE =
  'Give one of --server, for a running server, --data-dir, for a stopped one, and --etcd-endpoints, for servers on etcd.'

function storedPlace(place: AccountsPlace): StoredPlace | undefined {
  const { dataDir: directory, etcdEndpoints: endpoints } = place
  if (directory !== undefined && endpoints !== undefined) throw new UsageError(ONE_PLACE)
  if (directory !== undefined) return { directory: resolve(directory), mayBeNew: place.mayBeNew === true }
  return endpoints === undefined ? undefined : { etcd: etcdOf(place) }
}

/** The accounts of a running server. */
class RemoteAccounts implements Accounts {
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
