import { replaceHash } from '../core/access/access-commands.ts'
import { USER, type User } from '../core/access/access-records.ts'
import type { Engine } from '../core/engine/ports.ts'
import type { RecordView } from '../core/records/record-tables.ts'
import { Refusal } from '../core/refusal.ts'
import { bcryptCostOf } from './bcrypt.ts'
import { clientNetwork } from '../core/access/client-network.ts'
import type { PasswordCheck, Passwords } from './passwords.ts'
import { type SignInAttempt, SignInAttempts } from './sign-in-attempts.ts'
import { VerifiedPairs } from './verified-pairs.ts'

/** Dependencies of signing in with a password. */
export interface PasswordSignInParts {
  readonly records: RecordView
  readonly engine: Pick<Engine, 'execute'>
  readonly passwords: Passwords
  /** Monotonic ms. */
  readonly nowMs: () => number
  readonly after: (ms: number, run: () => void) => void
}

/** A username and password, and the address that they came from. */
export interface PasswordAttempt extends SignInAttempt {
  readonly password: string
}

/** Longer ones belong to nobody: the parameters with which users are made have the same bounds. */
const LONGEST_USERNAME = 128
const LONGEST_PASSWORD = 256
/** Attempts that wait because they are slowed. */
const MOST_DELAYED = 1_000
/** Attempts from one address that wait. */
const MOST_DELAYED_OF_ADDRESS = 5

/**
 * Checks usernames and passwords. A wrong user and a wrong password look the same and take the same time. A
 * pair that many clients send at once is checked once. A user who has to pause does not learn whether a
 * password is right, even where that is remembered.
 */
export class PasswordSignIn {
  readonly #parts: PasswordSignInParts
  readonly #verified = new VerifiedPairs()
  readonly #attempts = new SignInAttempts()
  readonly #running = new Map<string, Promise<User | undefined>>()
  /** Attempts that are slowed now, by network. */
  readonly #delayed = new Map<string, number>()
  #delayedCount = 0

  constructor(parts: PasswordSignInParts) {
    this.#parts = parts
  }

  /** The user, at once if the pair was checked before; undefined for a wrong pair. Throws, or rejects with, `sign-in-slowed`. */
  check(sent: PasswordAttempt): User | undefined | Promise<User | undefined> {
    const attempt = withinBounds(sent)
    this.#admissionOf(attempt)
    const user = this.#parts.records.record(USER, attempt.username)
    if (user !== undefined && this.#verified.isKnown(user, attempt.password)) return user
    const key = this.#verified.digest(attempt)
    const running = this.#running.get(key)
    return running === undefined ? this.#checkFirst(attempt, key) : this.#checkWith(running, attempt)
  }

  /** Like `check`, for a secret of another kind: `isRight` says whether it is right. */
  async guarded(attempt: SignInAttempt, isRight: () => boolean): Promise<boolean> {
    await this.#begin(attempt)
    const right = isRight()
    this.#finish(attempt, right)
    return right
  }

  async #checkFirst(attempt: PasswordAttempt, key: string): Promise<User | undefined> {
    const running = this.#checkAlone(attempt)
    this.#running.set(key, running)
    try {
      return await running
    } finally {
      this.#running.delete(key)
    }
  }

  /** Waits for another client's check of the same pair. Its failure counts for this client too. */
  async #checkWith(running: Promise<User | undefined>, attempt: SignInAttempt): Promise<User | undefined> {
    const user = await running
    if (user !== undefined) return user
    this.#attempts.begin(attempt, this.#parts.nowMs())
    this.#finish(attempt, false)
    return undefined
  }

  async #checkAlone(attempt: PasswordAttempt): Promise<User | undefined> {
    await this.#begin(attempt)
    const user = this.#parts.records.record(USER, attempt.username)
    const { matches, isOutdated } = await this.#compare(attempt, user)
    this.#finish(attempt, matches)
    if (!matches || user === undefined) return undefined
    if (isOutdated) await this.#replaceHash(user, attempt)
    const now = this.#parts.records.record(USER, attempt.username)
    // The password may have been changed while it was checked.
    if (now?.credentialStamp !== user.credentialStamp) return undefined
    this.#verified.remember(now, attempt.password)
    return now
  }

  async #compare(attempt: PasswordAttempt, user: User | undefined): Promise<PasswordCheck> {
    const { ip, password } = attempt
    // An empty password is never right.
    const stored = password === '' ? undefined : user?.passwordHash
    try {
      const bcryptCost = highestBcryptCost(this.#parts.records)
      return await this.#parts.passwords.check(password, stored, { client: clientNetwork(ip), bcryptCost })
    } catch (error) {
      this.#attempts.withdrawn(attempt)
      throw error
    }
  }

  /** Counts the attempt, at once unless it is slowed. Nothing happens between the last look at the counters and that. */
  async #begin(attempt: SignInAttempt): Promise<void> {
    const delayMs = this.#admissionOf(attempt)
    if (delayMs > 0) {
      await this.#delay(attempt, delayMs)
      this.#admissionOf(attempt)
    }
    this.#attempts.begin(attempt, this.#parts.nowMs())
  }

  #finish(attempt: SignInAttempt, matches: boolean): void {
    if (matches) this.#attempts.succeeded(attempt)
    else this.#attempts.failed(attempt, this.#parts.nowMs())
  }

  /** How long the attempt is slowed, ms. Throws `sign-in-slowed` where the user has to pause at this address. */
  #admissionOf(attempt: SignInAttempt): number {
    const admission = this.#attempts.admissionOf(attempt, this.#parts.nowMs())
    if (admission.kind === 'locked') throw slowed(admission.waitMs)
    return admission.delayMs
  }

  async #delay({ ip }: SignInAttempt, ms: number): Promise<void> {
    const network = clientNetwork(ip)
    const ofNetwork = this.#delayed.get(network) ?? 0
    if (ofNetwork >= MOST_DELAYED_OF_ADDRESS || this.#delayedCount >= MOST_DELAYED) throw slowed(ms)
    this.#delayed.set(network, ofNetwork + 1)
    this.#delayedCount++
    await new Promise<void>((resolve) => this.#parts.after(ms, resolve))
    this.#delayedCount--
    const left = (this.#delayed.get(network) ?? 1) - 1
    if (left === 0) this.#delayed.delete(network)
    else this.#delayed.set(network, left)
  }

  /** Replaces an outdated hash, or leaves it for the next time if too many hashes are being made. */
  async #replaceHash(
    { username, passwordHash: old }: User,
    { ip, password }: PasswordAttempt,
  ): Promise<void> {
    const { engine, passwords } = this.#parts
    try {
      const hash = await passwords.hash(password, clientNetwork(ip))
      await engine.execute(replaceHash(username, { old, new: hash }))
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
    }
  }
}

/** The highest cost of the bcrypt hashes that users still have from another server. */
function highestBcryptCost(records: RecordView): number | undefined {
  let highest: number | undefined
  for (const [, { passwordHash }] of records.records(USER)) {
    // Nearly all are our own.
    const cost = passwordHash.startsWith('$2') ? bcryptCostOf(passwordHash) : undefined
    if (cost !== undefined) highest = Math.max(highest ?? 0, cost)
  }
  return highest
}

/** Credentials that nobody can have are not processed further; they take as long as a wrong password. */
function withinBounds(attempt: PasswordAttempt): PasswordAttempt {
  const { username, password } = attempt
  if (username.length <= LONGEST_USERNAME && password.length <= LONGEST_PASSWORD) return attempt
  return { ...attempt, username: username.slice(0, LONGEST_USERNAME), password: '' }
}

function slowed(waitMs: number): Refusal {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  return new Refusal('sign-in-slowed', `Too many attempts to sign in failed: try again in ${seconds} s.`, {
    retryAfterSeconds: seconds,
  })
}
