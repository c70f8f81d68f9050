import type { Verdict } from './conversation.ts'

/** The last reported health of a target, and how many results in a row contradict it. */
export class HealthStreak {
  #healthy: boolean
  #against = 0

  constructor(healthy: boolean) {
    this.#healthy = healthy
  }

  /** Sets the health from outside, which resets the count. */
  set(healthy: boolean): void {
    if (healthy === this.#healthy) return
    this.#healthy = healthy
    this.#against = 0
  }

  /** Counts a result. Returns the new health if this result changes it. One `down-now` is enough. */
  count({ outcome }: Verdict, checkTimes: number): boolean | undefined {
    const found = outcome === 'up'
    this.#against = found === this.#healthy ? 0 : this.#against + 1
    const enough = outcome === 'down-now' ? 1 : checkTimes
    if (this.#against === 0 || this.#against < enough) return undefined
    this.set(found)
    return found
  }
}
