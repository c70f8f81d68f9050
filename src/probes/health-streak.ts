import type { Verdict } from './probe-target.ts'

/** The health of a target as last told, and how many results in a row spoke against it. */
export class HealthStreak {
  #healthy: boolean
  #against = 0

  constructor(healthy: boolean) {
    this.#healthy = healthy
  }

  /** Somebody else set the health; what was counted towards changing it no longer applies. */
  set(healthy: boolean): void {
    if (healthy === this.#healthy) return
    this.#healthy = healthy
    this.#against = 0
  }

  /** Counts a result; answers the new health if this one changed it. `down-now` needs no others. */
  count({ outcome }: Verdict, checkTimes: number): boolean | undefined {
    const found = outcome === 'up'
    this.#against = found === this.#healthy ? 0 : this.#against + 1
    const enough = outcome === 'down-now' ? 1 : checkTimes
    if (this.#against === 0 || this.#against < enough) return undefined
    this.set(found)
    return found
  }
}
