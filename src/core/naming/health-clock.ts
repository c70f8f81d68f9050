/**
 * The clock that beats and silence are judged by. It follows a monotonic clock, but moves at most two
 * ticks between two sweeps: when this process is paused, the instances could not reach it, and nobody
 * may expire for that.
 */
export class HealthClock {
  readonly #tickMs: number
  #baseMs = 0
  #sweptAtMs: number

  /** `monotonicMs`: the monotonic time now; `tickMs`: the time between two sweeps. */
  constructor(monotonicMs: number, tickMs: number) {
    this.#sweptAtMs = monotonicMs
    this.#tickMs = tickMs
  }

  /** Health time at this monotonic time. */
  at(monotonicMs: number): number {
    return this.#baseMs + Math.min(Math.max(monotonicMs - this.#sweptAtMs, 0), 2 * this.#tickMs)
  }

  /** Lets this time pass uncounted: while beats are refused, nobody can be blamed for silence. */
  hold(monotonicMs: number): void {
    this.#sweptAtMs = monotonicMs
  }

  /** Notes that a sweep begins now, and answers its health time. */
  sweep(monotonicMs: number): number {
    this.#baseMs = this.at(monotonicMs)
    this.#sweptAtMs = monotonicMs
    return this.#baseMs
  }
}
