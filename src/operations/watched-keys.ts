import { Refusal } from '../core/refusal.ts'

/** The keys that a pattern matches now, and later changes. */
export interface WatchedKeys<Key> {
  /** The keys that exist now and that the caller may read. */
  readonly keys: readonly Key[]
  /** Whether it is there at this moment. */
  isThere(key: Key): boolean
  /** The client has left, or does not watch the pattern any longer. */
  leave(): void
}

/** The most items or services that one pattern may mean. */
const MOST_MATCHES = 10_000

/** Throws Refusal `too-many-matches` for a pattern that means more than may be watched. */
export function refuseManyMatches(count: number): void {
  if (count <= MOST_MATCHES) return
  const allowed = `a pattern that at most ${MOST_MATCHES} names match`
  const message = `groupKeyPattern must be ${allowed}, but ${count} do.`
  throw new Refusal('too-many-matches', message, { parameter: 'groupKeyPattern', allowed })
}

/** A Refusal `too-many-patterns`. */
export function tooManyPatterns(allowed: string): Refusal {
  const message = `The server lets clients watch ${allowed}.`
  return new Refusal('too-many-patterns', message, { parameter: 'groupKeyPattern', allowed })
}
