import { resolve } from 'node:path'
import type { Account, Accounts, StoredPlace, WithStoredAccounts } from './accounts.ts'
import { command, type CommandResult, serverUrl, UsageError } from './command-line.ts'
import { PasswordInput } from './password-input.ts'
import { RemoteAccounts } from './remote-accounts.ts'
import { ServerSession, USERNAME_FLAG } from './server-session.ts'
import { loadSettings } from '../settings/settings.ts'
import { SettingsError } from '../settings/sources.ts'
import { ETCD_FLAGS } from './no-data-file.ts'
import { ofStoppedServer } from './stopped-server.ts'

const PLACE_FLAGS = {
  url: { type: 'string' },
  'data-dir': { type: 'string' },
  ...ETCD_FLAGS,
  ...USERNAME_FLAG,
  json: { type: 'boolean' },
} as const

/** `waypost user add NAME [--admin]`: the password comes from a prompt or from standard input. */
export const addUser = (withStored: WithStoredAccounts) =>
  command({
    words: ['NAME'],
    flags: { ...PLACE_FLAGS, admin: { type: 'boolean' } },
    run: ({ admin = false, ...place }, _, [name]) =>
      atPlace(withStored, place, async (accounts, passwords) => {
        await accounts.add(name!, await passwords.chosen(name!), admin)
        return done(
          `The user ${name} is made${admin ? ', and is an administrator' : ' and may do nothing yet'}.`,
        )
      }),
  })

/** `waypost user password NAME`. */
export const setPassword = (withStored: WithStoredAccounts) =>
  command({
    words: ['NAME'],
    flags: PLACE_FLAGS,
    run: (place, _, [name]) =>
      atPlace(withStored, place, async (accounts, passwords) => {
        await accounts.setPassword(name!, await passwords.chosen(name!))
        return done(
          `The user ${name} has a new password. Tokens and sessions made with the old one have ended.`,
        )
      }),
  })

/** `waypost user list`. */
export const listUsers = (withStored: WithStoredAccounts) =>
  command({
    flags: PLACE_FLAGS,
    run: (place) =>
      atPlace(withStored, place, async (accounts) => {
        const found = await accounts.list()
        return { code: 0, text: found.map(lineOf).join(''), json: found }
      }),
  })

/** `waypost user remove NAME`. */
export const removeUser = (withStored: WithStoredAccounts) =>
  command({
    words: ['NAME'],
    flags: PLACE_FLAGS,
    run: (place, _, [name]) =>
      atPlace(withStored, place, async (accounts) => {
        await accounts.remove(name!)
        return done(`The user ${name} is removed, with its roles and sessions.`)
      }),
  })

/** `waypost key rotate [--leaked]`: another key signs tokens from now on. */
export const rotateKey = (withStored: WithStoredAccounts) =>
  command({
    flags: { ...PLACE_FLAGS, leaked: { type: 'boolean' } },
    run: ({ leaked = false, ...place }) =>
      atPlace(withStored, place, async (accounts) => {
        await accounts.rotateKey(leaked)
        return done(`A new key signs tokens from now on. ${leaked ? OLD_TOKENS_ENDED : OLD_TOKENS_COUNT}`)
      }),
  })

const OLD_TOKENS_ENDED = 'The tokens of the old one have ended: everybody signs in again.'
const OLD_TOKENS_COUNT = 'The old one verifies until its last token has expired.'

interface Place {
  readonly url?: string | undefined
  readonly 'data-dir'?: string | undefined
  readonly 'etcd-endpoints'?: string | undefined
  readonly 'etcd-prefix'?: string | undefined
  readonly username?: string | undefined
}

type Work = (accounts: Accounts, passwords: PasswordInput) => Promise<CommandResult>

async function atPlace(withStored: WithStoredAccounts, place: Place, work: Work): Promise<CommandResult> {
  const { url, username } = place
  const passwords = new PasswordInput()
  const stored = storedPlace(place)
  if (url !== undefined && stored === undefined) {
    const session = new ServerSession(serverUrl(url), username, passwords)
    // Who signs in gives the own password first, then that of the user.
    await session.headers()
    return work(new RemoteAccounts(session), passwords)
  }
  if (url !== undefined || stored === undefined) throw new UsageError(ONE_PLACE)
  return ofStoppedServer(() => withStored(stored, (accounts) => work(accounts, passwords)))
}

const ONE_PLACE =
  'Give one of --url, for a running server, --data-dir, for a stopped one, and --etcd-endpoints, for servers on etcd.'

function storedPlace(place: Place): StoredPlace | undefined {
  const { 'data-dir': directory, 'etcd-endpoints': endpoints, 'etcd-prefix': prefix } = place
  if (directory !== undefined && endpoints !== undefined) throw new UsageError(ONE_PLACE)
  if (directory !== undefined) return { directory: resolve(directory) }
  return endpoints === undefined ? undefined : etcdPlace(endpoints, prefix)
}

/** Read like the settings of a server. */
function etcdPlace(endpoints: string, prefix: string | undefined): StoredPlace {
  const args = [`--etcd-endpoints=${endpoints}`, ...(prefix === undefined ? [] : [`--etcd-prefix=${prefix}`])]
  try {
    const { etcdEndpoints, etcdPrefix } = loadSettings({ args, env: {} })
    return { endpoints: etcdEndpoints, prefix: etcdPrefix }
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(error.problems.join('\n'), { cause: error })
    throw error
  }
}

function lineOf({ username, roles }: Account): string {
  return `${username}${roles.length === 0 ? '' : `  ${roles.join(', ')}`}\n`
}

function done(text: string): CommandResult {
  return { code: 0, text: `${text}\n`, json: { done: text } }
}
