import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { WrittenTrail } from '../audit/written-trail.ts'
import type { Account, Accounts, WithStoredAccounts } from '../command/accounts.ts'
import { addRole, createUser, removeUser, setPassword } from '../core/access/access-commands.ts'
import { ADMINISTRATOR_ROLE, USER, USER_ROLE } from '../core/access/access-records.ts'
import { rotateKeys } from '../core/access/signing-key-commands.ts'
import { type AuditResult, type AuditTrail, NO_USER } from '../core/audit/audit-event.ts'
import { auditedItem } from '../core/audit/audited-item.ts'
import type { Command } from '../core/decision.ts'
import type { Engine } from '../core/engine.ts'
import { SoleEngine } from '../core/sole-engine.ts'
import { Follower } from '../core/follower.ts'
import type { Now } from '../core/ports.ts'
import { Refusal } from '../core/refusal.ts'
import { Stamps } from '../core/stamps.ts'
import * as fields from '../protocols/parameters/fields.ts'
import { compileField } from '../protocols/parameters/parameter-field.ts'
import { SVC_RULES } from '../protocols/parameters/parameter-rules.ts'
import { loadSettings } from '../settings/settings.ts'
import { Passwords } from '../sign-in/passwords.ts'
import { newSigningKey } from '../sign-in/signing-keys.ts'
import { openEmbeddedStore } from '../store/embedded/embedded-store.ts'
import { NotExaminable } from '../store/local-file.ts'
import { loop, wallMs } from './clocks.ts'

/** The rule of `POST …/auth/users`: throws Refusal `invalid-parameter`. */
const checkUsername = compileField('NAME', fields.newUsername, SVC_RULES)

/** Who works on the store of a stopped server is known to its machine alone. */
const BY_TOOL = { username: NO_USER, by: 'tool', ip: '-' } as const

const QUIET = { info() {}, warn() {}, error() {} }

/** The accounts in the directory of a stopped server: changed by the same commands, and with the same rules, as on a running one. */
export const withStoredAccounts: WithStoredAccounts = async (directory, work) => {
  if (!existsSync(join(directory, 'waypost.db')))
    throw new NotExaminable(`The directory ${directory} holds no Waypost store: waypost.db is missing.`)
  const store = await openEmbeddedStore({ directory, log: QUIET })
  try {
    const stamps = new Stamps()
    const clock = (): Now => ({ wallMs: wallMs(), healthMs: 0, stamp: stamps.next(wallMs()) })
    const feed = { publishChanges: () => undefined }
    const follower = Follower.load(await store.load(), { clock, stamps, feed })
    const report = (error: unknown): never => {
      throw error
    }
    const engine = new SoleEngine({ follower, store, clock, loop, report })
    const trail = new WrittenTrail({
      store,
      clock,
      wallMs,
      onEvent: () => undefined,
      onDrop: () => undefined,
    })
    try {
      return await work(new StoredAccounts(follower.state, engine, trail))
    } finally {
      await engine.close()
      await trail.close()
    }
  } finally {
    await store.close()
  }
}

class StoredAccounts implements Accounts {
  readonly #state: Follower['state']
  readonly #engine: Engine
  readonly #trail: AuditTrail
  readonly #passwords = new Passwords()

  constructor(state: Follower['state'], engine: Engine, trail: AuditTrail) {
    this.#state = state
    this.#engine = engine
    this.#trail = trail
  }

  async add(username: string, password: string, isAdministrator: boolean): Promise<void> {
    checkUsername(username)
    const passwordHash = await this.#passwords.hash(password)
    await this.#change('create user', username, createUser({ username, passwordHash }))
    if (!isAdministrator) return
    const role = ADMINISTRATOR_ROLE
    await this.#change('add role', `${role} of ${username}`, addRole({ username, role }))
  }

  async setPassword(username: string, password: string): Promise<void> {
    const passwordHash = await this.#passwords.hash(password)
    await this.#change('set password', username, setPassword({ username, passwordHash }))
  }

  async list(): Promise<readonly Account[]> {
    const roles = Array.from(this.#state.records(USER_ROLE), ([, role]) => role)
    return Array.from(this.#state.records(USER), ([username]) => ({
      username,
      roles: roles.filter((each) => each.username === username).map(({ role }) => role),
    }))
  }

  async remove(username: string): Promise<void> {
    await this.#change('remove user', username, removeUser(username))
  }

  async rotateKey(hasLeaked: boolean): Promise<void> {
    const oldKeyMs = hasLeaked ? 0 : loadSettings({ args: [], env: process.env }).tokenTtlMs
    await this.#change('rotate keys', '', rotateKeys(newSigningKey(), oldKeyMs))
  }

  /** Changes something, and takes it down in the audit under the name that the running server gives it. */
  async #change(operation: string, own: string, command: Command<void>): Promise<void> {
    const record = (result: AuditResult, code = ''): void => {
      const item = auditedItem([{ kind: 'access' }], own)
      this.#trail.record({ ...BY_TOOL, operation, item, result, code, detail: '' })
    }
    try {
      await this.#engine.execute(command)
      record('done')
    } catch (error) {
      if (error instanceof Refusal) record('refused', error.code)
      else record('failed')
      throw error
    }
  }
}
