/**
 * How many probes a second may start, over all targets. Each costs some 70 µs of the only thread: this leaves four
 * fifths of it to everything else, and 10,000 instances still get their turn every 5 s.
 */
const STARTS_PER_SECOND = 2000

/** What may start at once after a quiet time. */
const BURST = 200

/** Spreads the starts of probes over time; `now` is monotonic milliseconds. */
export class StartPace {
  readonly #now: () => number
  #left = BURST
  #atMs: number

  constructor(now: () => number) {
    this.#now = now
    this.#atMs = now()
  }

  /** Whether one may start now. */
  allows(): boolean {
    const nowMs = this.#now()
    this.#left = Math.min(BURST, this.#left + ((nowMs - this.#atMs) * STARTS_PER_SECOND) / 1000)
    this.#atMs = nowMs
    return this.#left >= 1
  }

  /** Counts one that started. */
  spend(): void {
    this.#left -= 1
  }
}
