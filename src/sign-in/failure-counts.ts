import { ownText } from '../core/text/own-text.ts'

/** After this time without a failure, earlier ones are forgotten. */
const FORGET_MS = 15 * 60_000
/** Entries that are checked to find one that need not be kept. */
const MOST_LOOKED_AT = 100

/** How often something failed, and when last. */
export interface Failures {
  readonly count: number
  readonly lastMs: number
}

/** The most entries, and the count from which on an entry is kept longer than others. */
export interface CountLimits {
  readonly entries: number
  readonly kept: number
}

/**
 * Failures by a key, the latest last. When there are too many entries, the oldest is dropped. Entries with
 * many failures are dropped last, so that nobody gets rid of a lock by failing elsewhere.
 */
export class FailureCounts {
  readonly #limits: CountLimits
  readonly #counts = new Map<string, Failures>()

  constructor(limits: CountLimits) {
    this.#limits = limits
  }

  /** The failures that still count. */
  get(key: string, nowMs: number): Failures | undefined {
    const failures = this.#counts.get(key)
    return failures !== undefined && nowMs - failures.lastMs < FORGET_MS ? failures : undefined
  }

  add(key: string, nowMs: number): void {
    const count = (this.get(key, nowMs)?.count ?? 0) + 1
    this.#counts.delete(key)
    if (this.#counts.size >= this.#limits.entries) this.#counts.delete(this.#leastNeeded(nowMs))
    // The request of a name must not stay in memory with the name.
    this.#counts.set(ownText(key), { count, lastMs: nowMs })
  }

  /** Takes one failure back. */
  takeBack(key: string): void {
    const failures = this.#counts.get(key)
    if (failures === undefined) return
    if (failures.count === 1) this.#counts.delete(key)
    else this.#counts.set(key, { ...failures, count: failures.count - 1 })
  }

  forget(key: string): void {
    this.#counts.delete(key)
  }

  #leastNeeded(nowMs: number): string {
    let oldest: string | undefined
    let looked = 0
    for (const [key, { count, lastMs }] of this.#counts) {
      oldest ??= key
      if (count < this.#limits.kept || nowMs - lastMs >= FORGET_MS) return key
      if (++looked >= MOST_LOOKED_AT) break
    }
    return oldest ?? ''
  }
}
