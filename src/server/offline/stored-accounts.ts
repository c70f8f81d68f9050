import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { WrittenTrail } from '../../audit/written-trail.ts'
import { beginRotation, type SecretsStore } from '../../cluster/shared-secrets.ts'
import type { Account, Accounts, WithStoredAccounts } from '../commands/accounts/accounts.ts'
import {
  addRole,
  createFirstAdministrator,
  createUser,
  hasAdministrator,
  removeUser,
  setPassword,
} from '../../core/access/access-commands.ts'
import { ADMINISTRATOR_ROLE, USER, USER_ROLE } from '../../core/access/access-records.ts'
import { rotateKeys } from '../../core/access/signing-key-commands.ts'
import { type AuditResult, type AuditTrail, NO_USER } from '../../core/audit/audit-event.ts'
import { auditedItem, roleItem, userItem } from '../../core/audit/audited-item.ts'
import type { Command } from '../../core/decisions/decision.ts'
import type { Engine, KeptRecords, Snapshot } from '../../core/engine/ports.ts'
import { SoleEngine } from '../../core/engine/sole-engine.ts'
import { Follower } from '../../core/engine/follower.ts'
import { withSeenNames } from '../../core/engine/with-seen-names.ts'
import { SharedEngine } from '../../core/engine/shared-engine.ts'
import { SharedFollower } from '../../core/engine/shared-follower.ts'
import { Refusal } from '../../core/refusal.ts'
import { Stamps, type Now } from '../../core/decisions/stamps.ts'
import * as fields from '../../protocols/parameters/fields.ts'
import { compileField } from '../../protocols/parameters/parameter-field.ts'
import { SVC_RULES } from '../../protocols/parameters/schema.ts'
import { loadSettings, type Settings } from '../../settings/settings.ts'
import type { NewPassword } from '../../sign-in/password-rule.ts'
import { Passwords } from '../../sign-in/passwords.ts'
import { newSigningKey } from '../../sign-in/signing-keys.ts'
import { refuseWithoutStore } from '../../store/embedded/database/data-directory.ts'
import { openEmbeddedStore } from '../../store/embedded/embedded-store.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { openEtcd } from '../../store/etcd/open-etcd.ts'
import { NotExaminable } from '../../store/local-file.ts'
import { loop, wallMs } from '../process/clocks.ts'
import { Ending } from '../process/ending.ts'
import { etcdPlaceOf, unreadableRecord } from '../shared/etcd-place.ts'
import { othersMayKnow } from '../shared/shared-start.ts'

/** The rule of `POST …/auth/users`: throws Refusal `invalid-parameter`. */
const checkUsername = compileField('NAME', fields.newUsername, SVC_RULES)

/** The caller of a command on the store of a stopped server. Only the machine knows the person. */
const BY_TOOL = { username: NO_USER, by: 'tool', ip: '-' } as const

const QUIET = { info() {}, warn() {}, error() {} }

/** Stored accounts: changed by the same commands, and with the same rules, as on a running server. */
export const withStoredAccounts: WithStoredAccounts = (place, work) =>
  'directory' in place ? withDirectory(place, work) : withEtcd(place.etcd, work)

type AccountsWork<T> = (accounts: Accounts) => Promise<T>

async function withDirectory<T>(
  { directory, mayBeNew }: { directory: string; mayBeNew?: boolean },
  work: AccountsWork<T>,
): Promise<T> {
  const isNew = mayBeNew === true && isEmpty(directory)
  if (!isNew) refuseWithoutStore(directory)
  const store = await openEmbeddedStore({ directory, log: QUIET })
  try {
    const { follower, clock } = followerOf(await store.load())
    const engine = withSeenNames(new SoleEngine({ follower, store, clock, loop, report: thrown }))
    const newStore = isNew ? directory : undefined
    return await withEngine({ store, clock, engine, state: follower.state, newStore }, work)
  } finally {
    await store.close()
  }
}

/** A volume of its own has this directory. */
const OF_FILE_SYSTEM = 'lost+found'

function isEmpty(directory: string): boolean {
  return !existsSync(directory) || readdirSync(directory).every((name) => name === OF_FILE_SYSTEM)
}

/** Servers may work on the same store: they receive these changes by its feed. */
async function withEtcd<T>(settings: Settings, work: AccountsWork<T>): Promise<T> {
  const place = etcdPlaceOf(settings, process.env)
  const ownProcess = randomUUID()
  const { ended, failed } = new Ending()
  const member = `tool ${ownProcess}`
  const waitForOthers = (): Promise<void> => othersMayKnow(QUIET)
  const own = { member, process: ownProcess, clock: systemClock, failed, waitForOthers }
  const { store } = openEtcd({ ...place, ...own })
  try {
    const { follower, stamps, clock } = followerOf(await store.load())
    const engine = withSeenNames(new SharedEngine({ follower, store, clock, loop, report: thrown }))
    store.follow(new SharedFollower(follower, stamps))
    const working = withEngine({ store, clock, engine, state: follower.state, peers: store }, work)
    const result = await Promise.race([working, ended.then(thrown)])
    await store.forget()
    return result
  } catch (error) {
    throw error instanceof SyntaxError ? unreadableRecord(settings.etcdPrefix, error) : error
  } finally {
    await store.close()
  }
}

function followerOf(snapshot: Snapshot) {
  const stamps = new Stamps()
  const clock = (): Now => ({ wallMs: wallMs(), healthMs: 0, stamp: stamps.next(wallMs()) })
  const feed = { publishChanges: () => undefined }
  return { follower: Follower.load(snapshot, { clock, stamps, feed }), stamps, clock }
}

interface EngineOnStore {
  readonly store: KeptRecords
  readonly clock: () => Now
  readonly engine: Engine
  readonly state: Follower['state']
  readonly newStore?: string | undefined
  /** For a place where servers share a secret. */
  readonly peers?: SecretsStore | undefined
}

async function withEngine<T>({ store, clock, ...parts }: EngineOnStore, work: AccountsWork<T>): Promise<T> {
  const nothing = (): void => undefined
  const trail = new WrittenTrail({ store, clock, wallMs, onEvent: nothing, onDrop: nothing })
  try {
    return await work(new StoredAccounts(parts, trail))
  } finally {
    await parts.engine.close()
    await trail.close()
  }
}

function thrown(error: unknown): never {
  throw error
}

/** Tools follow the rule of the server: WAYPOST_PASSWORD_RULE, or the file in WAYPOST_SETTINGS. */
function hashNew(chosen: NewPassword): Promise<string> {
  return new Passwords({ rule: loadSettings({ env: process.env }).passwordRule }).hashNew(chosen)
}

class StoredAccounts implements Accounts {
  readonly newStore: string | undefined
  readonly #state: Follower['state']
  readonly #engine: Engine
  readonly #peers: SecretsStore | undefined
  readonly #trail: AuditTrail

  constructor({ state, engine, newStore, peers }: Omit<EngineOnStore, 'store' | 'clock'>, trail: AuditTrail) {
    this.#peers = peers
    this.#state = state
    this.#engine = engine
    this.newStore = newStore
    this.#trail = trail
  }

  async add(username: string, password: string, isAdministrator: boolean): Promise<void> {
    checkUsername(username)
    const passwordHash = await hashNew({ username, password })
    await this.#change('create user', userItem({ username }), createUser({ username, passwordHash }))
    if (!isAdministrator) return
    const role = ADMINISTRATOR_ROLE
    await this.#change('add role', roleItem({ role, username }), addRole({ username, role }))
  }

  async addFirst(username: string, password: () => Promise<string>): Promise<boolean> {
    checkUsername(username)
    if (hasAdministrator(this.#state)) return false
    const passwordHash = await hashNew({ username, password: await password() })
    try {
      const command = createFirstAdministrator({ username, passwordHash })
      await this.#change('create first administrator', userItem({ username }), command)
      return true
    } catch (error) {
      // On etcd, another tool or server may have been faster.
      if (error instanceof Refusal && error.code === 'administrator-exists') return false
      throw error
    }
  }

  async setPassword(username: string, password: string): Promise<void> {
    const passwordHash = await hashNew({ username, password })
    await this.#change('set password', userItem({ username }), setPassword({ username, passwordHash }))
  }

  async list(): Promise<readonly Account[]> {
    const roles = Array.from(this.#state.records(USER_ROLE), ([, role]) => role)
    return Array.from(this.#state.records(USER), ([username]) => ({
      username,
      roles: roles.filter((each) => each.username === username).map(({ role }) => role),
    }))
  }

  async remove(username: string): Promise<void> {
    await this.#change('remove user', userItem({ username }), removeUser(username))
  }

  async rotateKey(hasLeaked: boolean): Promise<void> {
    const ttlMs = loadSettings({ env: process.env }).tokenTtlMs
    await this.#change('rotate keys', '', rotateKeys(newSigningKey(), hasLeaked ? 'leaked' : { ttlMs }))
  }

  async rotatePeerSecret(): Promise<boolean> {
    const peers = this.#peers
    if (peers === undefined) throw new NotExaminable('A server with a directory has no other servers to ask.')
    const beginning = await this.#recorded('rotate peer secret', '', () => beginRotation(peers))
    if (beginning === 'none') throw new NotExaminable('No server has run on this etcd and prefix yet.')
    return beginning === 'begun'
  }

  /** If a user has very many roles, each command removes a part. */
  #change(operation: string, own: string, command: Command<boolean | void>): Promise<void> {
    return this.#recorded(operation, own, async () => {
      while ((await this.#engine.execute(command)) === true);
    })
  }

  /** Changes something, and records it in the audit under the name that the running server gives it. */
  async #recorded<T>(operation: string, own: string, change: () => Promise<T>): Promise<T> {
    const record = (result: AuditResult, code = ''): void => {
      const item = auditedItem([{ kind: 'access' }], own)
      this.#trail.record({ ...BY_TOOL, operation, item, result, code, detail: '' })
    }
    try {
      const result = await change()
      record('done')
      return result
    } catch (error) {
      if (error instanceof Refusal) record('refused', error.code)
      else record('failed')
      throw error
    }
  }
}
