import { ownText } from '../core/text/own-text.ts'
import { clientNetwork } from '../core/access/client-network.ts'
import { FailureCounts } from './failure-counts.ts'

const SECOND_MS = 1_000
const MINUTE_MS = 60_000

/** Failures of a user at an address that cost nothing: people mistype. */
const FREE_FAILURES = 4
/** Failures of a user at an address after which the pair is locked. */
const FAILURES_TO_LOCK = 10
const LOCK_MS = 5 * MINUTE_MS
/** Failures of a user over all addresses after which attempts have to wait. */
const FREE_FAILURES_OF_USER = 20
/** Failures of an address over all users after which attempts have to wait. */
const FREE_FAILURES_OF_ADDRESS = 100
const LONGEST_DELAY_MS = 3 * SECOND_MS
/** Pairs, users and addresses that are counted, of each. */
const MOST_COUNTED = 20_000

/** Whether an attempt is made now. `delayMs`: it is made after that time. */
export type SignInDecision =
  | { readonly kind: 'admitted'; readonly delayMs: number }
  | { readonly kind: 'locked'; readonly waitMs: number }

/** The name that tries to sign in, and its address. The username has a bounded length. */
export interface SignInAttempt {
  readonly username: string
  readonly ip: string
}

/**
 * Counts failed attempts to sign in. A user at an address is slowed, then locked for minutes. A user over all
 * addresses, and an address over all users, are only slowed: nobody can lock out somebody else. A user who signed in at
 * an address is not slowed there by failures elsewhere. Times are monotonic ms.
 */
export class SignInAttempts {
  readonly #pairs = new FailureCounts({ entries: MOST_COUNTED, kept: FAILURES_TO_LOCK })
  readonly #users = new FailureCounts({ entries: MOST_COUNTED, kept: FREE_FAILURES_OF_USER })
  readonly #addresses = new FailureCounts({ entries: MOST_COUNTED, kept: FREE_FAILURES_OF_ADDRESS })
  /** Pairs that have signed in, the oldest first. */
  readonly #familiar = new Set<string>()

  /** Whether an attempt is made now, later or not at all. */
  admissionOf(attempt: SignInAttempt, nowMs: number): SignInDecision {
    const pair = pairOf(attempt)
    const ofPair = this.#pairs.get(pair, nowMs)
    const waitMs = ofPair === undefined ? 0 : ofPair.lastMs + pauseMs(ofPair.count) - nowMs
    if (waitMs > 0) return { kind: 'locked', waitMs }
    const ofUser = this.#familiar.has(pair) ? undefined : this.#users.get(attempt.username, nowMs)
    const ofAddress = this.#addresses.get(clientNetwork(attempt.ip), nowMs)
    const delayOfUser = delayMs((ofUser?.count ?? 0) - FREE_FAILURES_OF_USER)
    const delayOfAddress = delayMs((ofAddress?.count ?? 0) - FREE_FAILURES_OF_ADDRESS)
    return { kind: 'admitted', delayMs: Math.max(delayOfUser, delayOfAddress) }
  }

  /** An attempt begins. It counts as failed until it has succeeded, so that attempts at the same time count too. */
  begin(attempt: SignInAttempt, nowMs: number): void {
    this.#pairs.add(pairOf(attempt), nowMs)
    this.#users.add(attempt.username, nowMs)
  }

  /** An attempt that began has failed. */
  failed({ ip }: SignInAttempt, nowMs: number): void {
    this.#addresses.add(clientNetwork(ip), nowMs)
  }

  /** An attempt that began has succeeded: the pair starts from zero. The failures at other addresses still count for the user. */
  succeeded(attempt: SignInAttempt): void {
    const pair = pairOf(attempt)
    this.#pairs.forget(pair)
    this.#users.takeBack(attempt.username)
    this.#familiar.delete(pair)
    if (this.#familiar.size >= MOST_COUNTED) this.#familiar.delete(this.#familiar.values().next().value ?? '')
    this.#familiar.add(ownText(pair))
  }

  /** An attempt that began could not be made. */
  withdrawn(attempt: SignInAttempt): void {
    this.#pairs.takeBack(pairOf(attempt))
    this.#users.takeBack(attempt.username)
  }
}

/** How long a pair has to pause after that many failures. */
function pauseMs(failures: number): number {
  if (failures <= FREE_FAILURES) return 0
  if (failures >= FAILURES_TO_LOCK) return LOCK_MS
  return SECOND_MS * 2 ** (failures - FREE_FAILURES - 1)
}

/** How long an attempt has to wait after that many failures too many. */
function delayMs(tooMany: number): number {
  return Math.min(LONGEST_DELAY_MS, Math.max(0, 100 * tooMany))
}

function pairOf({ username, ip }: SignInAttempt): string {
  return `${clientNetwork(ip)}\n${username}`
}
