import type { TextPattern } from '../text/text-pattern.ts'

/**
 * Patterns of several parts each, such as namespace, group and name. Parts without a wildcard are found in a map, so that
 * thousands of items that are named in full cost as little as one. A pattern whose remaining parts match everything ends early.
 */
export class RuleTree {
  readonly #exact = new Map<string, RuleTree>()
  /** By the source of the pattern. */
  readonly #wild = new Map<string, { readonly pattern: TextPattern; readonly below: RuleTree }>()
  #isWhole = false

  /** Adds a pattern, given by its parts. */
  add(parts: readonly TextPattern[]): void {
    const [first, ...others] = parts
    if (first === undefined || parts.every(({ isAny }) => isAny)) this.#isWhole = true
    else this.#below(first).add(others)
  }

  /** Whether a pattern matches these parts, from the one at `depth` on. */
  matches(parts: readonly string[], depth = 0): boolean {
    if (this.#isWhole) return true
    const part = parts[depth]
    if (part === undefined) return false
    if (this.#exact.get(part)?.matches(parts, depth + 1) === true) return true
    for (const { pattern, below } of this.#wild.values())
      if (pattern.matches(part) && below.matches(parts, depth + 1)) return true
    return false
  }

  /** Whether a pattern can match something with this first part; with any, where it is undefined. */
  reaches(first: string | undefined): boolean {
    if (this.#isWhole) return true
    if (first === undefined) return this.#exact.size > 0 || this.#wild.size > 0
    if (this.#exact.has(first)) return true
    for (const { pattern } of this.#wild.values()) if (pattern.matches(first)) return true
    return false
  }

  #below(pattern: TextPattern): RuleTree {
    const { exact, source } = pattern
    const known = exact === undefined ? this.#wild.get(source)?.below : this.#exact.get(exact)
    if (known !== undefined) return known
    const below = new RuleTree()
    if (exact === undefined) this.#wild.set(source, { pattern, below })
    else this.#exact.set(exact, below)
    return below
  }
}
