/**
 * How many probes may start per second. Each costs some 70 µs of the only thread, so four fifths of the thread remain
 * for everything else. 10,000 instances are still probed every 5 s.
 */
const STARTS_PER_SECOND = 2000

/** How many probes may start at once after an idle time. */
const BURST = 200

/** Limits the rate at which probes start. `now` is in monotonic milliseconds. */
export class StartPace {
  readonly #now: () => number
  #left = BURST
  #atMs: number

  constructor(now: () => number) {
    this.#now = now
    this.#atMs = now()
  }

  /** Whether a probe may start now. */
  allows(): boolean {
    const nowMs = this.#now()
    this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) * STARTS_PER_SECOND) / 1000)
    this.#atMs = nowMs
    return this.#left >= 1
  }

  /** Counts a started probe. */
  spend(): void {
    this.#left -= 1
  }
}
