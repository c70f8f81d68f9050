/** Pauses shorter than this are not noted, in ms: they come with any load. */
const SHORT_PAUSE_MS = 250
/** The number of pauses whose length is kept. */
const MOST_PAUSES = 64

/** A time in which the clock stood still. */
interface Pause {
  /** Health time at its end. */
  readonly atMs: number
  /** Monotonic time at its end. */
  readonly endedMs: number
  readonly lengthMs: number
}

/**
 * The clock for beats and silence. It follows a monotonic clock, but advances at most two ticks between two sweeps.
 * While this process is paused, instances cannot reach it, and must not expire for that. It never goes back.
 */
export class HealthClock {
  readonly #tickMs: number
  readonly #startMs: number
  #baseMs = 0
  #sweptAtMs: number
  #held = false
  /** How far it was behind the monotonic clock when the last pause was noted. */
  #behindMs = 0
  readonly #pauses: Pause[] = []

  /** `monotonicMs`: the monotonic time now; `tickMs`: the time between two sweeps. */
  constructor(monotonicMs: number, tickMs: number) {
    this.#startMs = monotonicMs
    this.#sweptAtMs = monotonicMs
    this.#tickMs = tickMs
  }

  /** Health time at this monotonic time, in whole ms: each instance stores one, and a fraction takes twice the memory. */
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
    this.#notePause(monotonicMs)
    return Math.floor(this.#baseMs)
  }

  /** For how long the clock has stood still since this health time, in ms. Time has passed that it does not show. */
  pausedSince(healthMs: number): number {
    let pausedMs = 0
    for (const { atMs, lengthMs } of this.#pauses) if (atMs > healthMs) pausedMs += lengthMs
    return pausedMs
  }

  /**
   * Until when the clock last stood still for at least `lengthMs` at a time, in monotonic time; -Infinity: never. It is
   * `monotonicMs` now. A process that wakes may ask before its next sweep has noted that.
   */
  stoodStillUntil(lengthMs: number, monotonicMs: number): number {
    if (!this.#held && monotonicMs - this.#sweptAtMs - 2 * this.#tickMs >= lengthMs) return monotonicMs
    return this.#pauses.findLast((pause) => pause.lengthMs >= lengthMs)?.endedMs ?? -Infinity
  }

  #notePause(monotonicMs: number): void {
    const behindMs = monotonicMs - this.#startMs - this.#baseMs
    const lengthMs = behindMs - this.#behindMs
    if (lengthMs < SHORT_PAUSE_MS) return
    this.#behindMs = behindMs
    this.#pauses.push({ atMs: Math.floor(this.#baseMs), endedMs: monotonicMs, lengthMs })
    if (this.#pauses.length > MOST_PAUSES) this.#pauses.shift()
  }
}
