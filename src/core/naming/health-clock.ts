/**
 * The clock that beats and silence are judged by. It follows a monotonic clock, but moves at most two
 * ticks between two sweeps: when this process is paused, the instances could not reach it, and nobody
 * may expire for that. It never goes back.
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

  /** Health time at this monotonic time, in whole ms: each instance keeps one, and a fraction takes twice the memory. */
  at(monotonicMs: number): number {
    return Math.floor(this.#exactly(monotonicMs))
  }

  #exactly(monotonicMs: number): number {
    if (this.#held) return this.#baseMs
    return this.#baseMs + Math.min(Math.max(monotonicMs - this.#sweptAtMs, 0), 2 * this.#tickMs)
  }

  /** Stands still from now to the next sweep: while beats are refused, nobody can be blamed for silence. */
  hold(monotonicMs: number): void {
    this.#baseMs = this.#exactly(monotonicMs)
    this.#held = true
  }

  /** Notes that a sweep begins now, and answers its health time. */
  sweep(monotonicMs: number): number {
    this.#baseMs = this.#exactly(monotonicMs)
    this.#sweptAtMs = monotonicMs
    this.#held = false
    return Math.floor(this.#baseMs)
  }
}
