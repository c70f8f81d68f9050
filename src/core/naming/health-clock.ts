/**
 * The clock for beats and silence. It follows a monotonic clock, but advances at most two ticks between two sweeps: while
 * this process is paused, instances cannot reach it, and must not expire for that. It never goes back.
 */
export class HealthClock {
  readonly #tickMs: number
  #baseMs = 0
  #sweptAtMs: number
  #held = false

  /** `monotonicMs`: the monotonic time now; `tickMs`: the time between two sweeps. */
  constructor(monotonicMs: number, tickMs: number) {
    this.#sweptAtMs = monotonicMs
    this.#tickMs = tickMs
  }

  /** Health time at this monotonic time, in whole milliseconds: each instance stores one, and a fraction takes twice the memory. */
  at(monotonicMs: number): number {
    return Math.floor(this.#exactly(monotonicMs))
  }

  #exactly(monotonicMs: number): number {
    if (this.#held) return this.#baseMs
    return this.#baseMs + Math.min(Math.max(monotonicMs - this.#sweptAtMs, 0), 2 * this.#tickMs)
  }

  /** Stops until the next sweep: while beats are refused, silence means nothing. */
  hold(monotonicMs: number): void {
    this.#baseMs = this.#exactly(monotonicMs)
    this.#held = true
  }

  /** Notes that a sweep begins now, and returns its health time. */
  sweep(monotonicMs: number): number {
    this.#baseMs = this.#exactly(monotonicMs)
    this.#sweptAtMs = monotonicMs
    this.#held = false
    return Math.floor(this.#baseMs)
  }
}
