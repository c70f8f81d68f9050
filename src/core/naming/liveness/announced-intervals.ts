import type { Now } from '../../decisions/stamps.ts'
import { DEFAULT_SWITCHES } from '../../switches/switches.ts'
import { leastWaitMs, type AnnouncedInterval } from '../../switches/announced-interval.ts'

/**
 * How often clients are asked to beat that have no interval of their own. The switch clientBeatInterval says it; its value
 * before counts for a while after it was lowered. All times are health time.
 */
export class AnnouncedIntervals {
  #switchMs = DEFAULT_SWITCHES.clientBeatInterval
  #beforeMs = 0
  #untilMs = -Infinity

  /** The switch has this value now. */
  switched(intervalMs: number): void {
    this.#switchMs = intervalMs
  }

  /** Clients may still beat as this interval says, for as long as a beat of it is awaited. */
  ended({ intervalMs, endedAtMs }: AnnouncedInterval, now: Pick<Now, 'healthMs' | 'wallMs'>): void {
    // Stamps are up to a minute ahead of the clock after a crash.
    const passedMs = endedAtMs === undefined ? 0 : Math.max(0, now.wallMs - endedAtMs)
    this.#beforeMs = intervalMs
    this.#untilMs = now.healthMs + leastWaitMs(intervalMs) - passedMs
  }

  /** The longest interval that a client was asked for, ms. */
  at(nowMs: number): number {
    return nowMs < this.#untilMs ? Math.max(this.#switchMs, this.#beforeMs) : this.#switchMs
  }

  /** When an instance must be checked that is due then: waits become shorter when the interval before does not count any more. */
  checkedMs(dueMs: number, nowMs: number): number {
    return nowMs < this.#untilMs ? Math.min(dueMs, this.#untilMs) : dueMs
  }
}
