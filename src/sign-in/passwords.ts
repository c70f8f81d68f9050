import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Refusal } from '../core/refusal.ts'
import { Bcrypt, bcryptCostOf, bcryptOfNobody } from './bcrypt.ts'
import { type NewPassword, type PasswordRule, requireStrong } from './password-rule.ts'
import { FairQueue, type QueueLimits } from '../core/work/fair-queue.ts'

/** The cost of scrypt: `N` rounds of memory, blocks of `r`, `p` times. */
interface Cost {
  readonly N: number
  readonly r: number
  readonly p: number
}

/** One of the choices that the OWASP password storage guide calls equal: 16 MiB. Its cost: decision 0029. */
const COST: Cost = { N: 2 ** 14, r: 8, p: 5 }
const SALT_BYTES = 16
const HASH_BYTES = 32

/** At most two hashes at the same time; one on a small machine, to leave a processor for the event loop. */
const LIMITS: QueueLimits = { atOnce: Math.min(2, Math.max(1, availableParallelism() - 1)), waiting: 200 }

/**
 * Whether a password matches a stored hash. `isOutdated`: it matches, but the hash has other parameters than today's,
 * or was made elsewhere with bcrypt.
 */
export interface PasswordCheck {
  readonly matches: boolean
  readonly isOutdated: boolean
}

/** `cost` and `limits` are for tests. */
export interface PasswordOptions {
  readonly rule: PasswordRule
  readonly cost?: Cost
  readonly limits?: QueueLimits
}

/** The client that wants a password to be checked, and the cost of all checks. */
export interface CheckContext {
  readonly client?: string
  /** The highest cost of the bcrypt hashes of all users: every check takes as long. Undefined: no user has one. */
  readonly bcryptCost?: number | undefined
}

/** The client of hashes that no network address asked for, such as the hash of a new user. */
const NO_CLIENT = ''

/**
 * Hashes passwords with Node's scrypt, off the event loop. The stored text is `scrypt$N$r$p$salt$hash`, the last two as
 * base64url. It also checks bcrypt hashes, which come from other servers. A `client` is an address: clients take turns.
 * With too many at once, `sign-in-slowed` is thrown.
 */
export class Passwords {
  readonly #cost: Cost
  readonly #queue: FairQueue
  readonly #rule: PasswordRule
  readonly #bcrypt = new Bcrypt()

  constructor({ rule, cost = COST, limits = LIMITS }: PasswordOptions) {
    this.#rule = rule
    this.#cost = cost
    this.#queue = new FairQueue(limits, tooMany)
  }

  /** The text to store for a password that somebody has chosen. Refusal `weak-password`, where there is a rule. */
  async hashNew(chosen: NewPassword): Promise<string> {
    if (this.#rule === 'on') await requireStrong(chosen)
    return this.hash(chosen.password)
  }

  /** The text to store for a password that was there before. */
  async hash(password: string, client = NO_CLIENT): Promise<string> {
    const { N, r, p } = this.#cost
    const salt = randomBytes(SALT_BYTES)
    const hash = await this.#queue.run(client, () => derive(password, salt, this.#cost))
    return ['scrypt', N, r, p, salt.toString('base64url'), hash.toString('base64url')].join('$')
  }

  /**
   * Takes as long where nothing is stored: nobody learns from the time which users there are. It does not show who
   * still has a bcrypt hash either.
   */
  async check(
    password: string,
    stored: string | undefined,
    { client = NO_CLIENT, bcryptCost }: CheckContext = {},
  ): Promise<PasswordCheck> {
    const isImported = stored !== undefined && bcryptCostOf(stored) !== undefined
    const known = stored === undefined || isImported ? undefined : readStored(stored)
    const { cost, salt } = known ?? { cost: this.#cost, salt: NO_SALT }
    const hash = await this.#queue.run(client, () => derive(password, salt, cost))
    const matchesOwn = timingSafeEqual(hash, known?.hash ?? NO_HASH) && known !== undefined
    const imported = isImported ? stored : bcryptCost === undefined ? undefined : bcryptOfNobody(bcryptCost)
    const matchesImported =
      imported !== undefined && (await this.matchesBcrypt(password, imported, client)) && isImported
    const isOutdated = matchesImported || (matchesOwn && !isEqual(cost, this.#cost))
    return { matches: matchesOwn || matchesImported, isOutdated }
  }

  /** Whether a bcrypt hash (`bcryptCostOf`) is one of the password. It waits like all other checks. */
  matchesBcrypt(password: string, hash: string, client = NO_CLIENT): Promise<boolean> {
    return this.#queue.run(client, () => this.#bcrypt.matches(password, hash))
  }
}

const NO_SALT = Buffer.alloc(SALT_BYTES)
const NO_HASH = Buffer.alloc(HASH_BYTES)

interface Stored {
  readonly cost: Cost
  readonly salt: Buffer
  readonly hash: Buffer
}

/** Throws an Error for a text that `hash` has not made. */
function readStored(text: string): Stored {
  const [, N, r, p, salt = '', hash = ''] =
    /^scrypt\$(\d{1,8})\$(\d{1,3})\$(\d{1,3})\$([\w-]+)\$([\w-]+)$/.exec(text) ?? []
  const stored = {
    cost: { N: Number(N), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64url'),
    hash: Buffer.from(hash, 'base64url'),
  }
  if (stored.hash.length !== HASH_BYTES) throw new Error('The hash of a password cannot be read.')
  return stored
}

function isEqual(one: Cost, other: Cost): boolean {
  return one.N === other.N && one.r === other.r && one.p === other.p
}

function derive(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  const options = { ...cost, maxmem: 2 ** 20 + 256 * cost.N * cost.r }
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    )
  })
}

function tooMany(): Refusal {
  return new Refusal('sign-in-slowed', 'Too many callers sign in at once: try again in a few seconds.', {
    retryAfterSeconds: 5,
  })
}

/** A password that nobody can guess: 128 random bits. */
export function randomPassword(): string {
  return randomBytes(16).toString('base64url')
}
