import { createHmac, randomBytes } from 'node:crypto'
import type { User } from '../core/access/access-records.ts'

/** Pairs that are remembered, about 200 bytes each. */
const MOST_REMEMBERED = 10_000

/**
 * Remembers which passwords were right, so that a client which sends one with every request costs one hash. A
 * pair is kept as a digest with a key that only this process has. The digest is kept together with the stored
 * hash that it matched, so another password ends it.
 */
export class VerifiedPairs {
  readonly #key = randomBytes(32)
  readonly #passwordHashes = new Map<string, string>()

  /** Whether this password was checked against the user's present hash. */
  isKnown(user: User, password: string): boolean {
    return this.#passwordHashes.get(this.digest({ username: user.username, password })) === user.passwordHash
  }

  /** The password matches the stored hash of the user. */
  remember(user: User, password: string): void {
    const known = this.#passwordHashes
    const digest = this.digest({ username: user.username, password })
    if (known.size >= MOST_REMEMBERED && !known.has(digest)) known.delete(known.keys().next().value ?? '')
    known.set(digest, user.passwordHash)
  }

  /** A digest of the pair, which reveals nothing without the key. */
  digest({ username, password }: { username: string; password: string }): string {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([username, password]))
      .digest('base64')
  }
}
