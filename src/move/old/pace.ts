import { setTimeout as sleep } from 'node:timers/promises'

/** A slower answer than this, and than the usual one times SLOW_TIMES, is a sign of load. */
const SLOW_MS = 500
const SLOW_TIMES = 5
/** The rate is halved at most once in this time, and rises again after it. */
const STEP_MS = 1_000
const RISE = 1.25

/** The time, as a pace reads it and waits for it. */
export interface PaceClock {
  readonly nowMs: () => number
  readonly wait: (ms: number) => Promise<unknown>
}

const MACHINE: PaceClock = { nowMs: () => performance.now(), wait: (ms) => sleep(ms) }

/**
 * The calls a second for an old server, which serves others meanwhile: halved when it is slow or overloaded, then slowly
 * raised.
 */
export class Pace {
  readonly #most: number
  readonly #clock: PaceClock
  #perSecond: number
  #nextMs = -Infinity
  #changedMs = -Infinity
  #usualMs: number | undefined

  constructor(mostPerSecond: number, clock: PaceClock = MACHINE) {
    this.#most = mostPerSecond
    this.#perSecond = mostPerSecond
    this.#clock = clock
  }

  /** The calls a second that it allows now. */
  get perSecond(): number {
    return this.#perSecond
  }

  /** The time of this pace's clock, ms. */
  nowMs(): number {
    return this.#clock.nowMs()
  }

  /** Waits outside of the turns: before a call is repeated. */
  async wait(ms: number): Promise<void> {
    await this.#clock.wait(ms)
  }

  /** Resolves when the next call may be sent. */
  async turn(): Promise<void> {
    const nowMs = this.#clock.nowMs()
    const atMs = Math.max(nowMs, this.#nextMs)
    this.#nextMs = atMs + 1_000 / this.#perSecond
    if (atMs > nowMs) await this.#clock.wait(atMs - nowMs)
  }

  /** Notes the duration of an answer, and whether it reports an overload. */
  answered(elapsedMs: number, isOverloaded: boolean): void {
    const nowMs = this.#clock.nowMs()
    const usualMs = this.#usualMs ?? elapsedMs
    const isSlow = elapsedMs > Math.max(SLOW_MS, usualMs * SLOW_TIMES)
    if (!isSlow && !isOverloaded) this.#usualMs = usualMs * 0.9 + elapsedMs * 0.1
    if (nowMs - this.#changedMs < STEP_MS) return
    const next = isSlow || isOverloaded ? Math.max(1, this.#perSecond / 2) : this.#perSecond * RISE
    this.#changedMs = nowMs
    this.#perSecond = Math.min(this.#most, next)
  }
}
