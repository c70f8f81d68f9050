import type { ServiceEntry } from '../../core/naming/service-entry.ts'

/** What is kept with a service. `usedIn` is the book's: the generation in which it was last asked for. */
export interface KeptAnswers {
  readonly bytes: number
  usedIn: number
}

/** The `usedIn` of what nobody has asked for yet. */
export const UNUSED = -1

/** Of a generation: the answers of a million instances are 350 to 450 MB, and all in use should stay. */
const MOST_BYTES = 512 * 1024 * 1024

/**
 * Bounds what the answers of all services take: those that were not asked for of late are forgotten, and made anew
 * when they are. Two generations of at most `mostBytes` each, so that nothing is sorted and an answer in use costs
 * a comparison.
 */
export class RecentAnswers {
  readonly #most: number
  #generation = 0
  #bytes = 0
  #current: ServiceEntry[] = []
  #previous: ServiceEntry[] = []

  constructor(mostBytes = MOST_BYTES) {
    this.#most = mostBytes
  }

  /** Notes that `kept` of an entry is asked for, and has grown by `addedBytes`. */
  use(entry: ServiceEntry, kept: KeptAnswers, addedBytes: number): void {
    if (kept.usedIn === this.#generation) this.#bytes += addedBytes
    else {
      kept.usedIn = this.#generation
      this.#current.push(entry)
      this.#bytes += kept.bytes
    }
    if (this.#bytes > this.#most) this.#nextGeneration()
  }

  #nextGeneration(): void {
    for (const entry of this.#previous) {
      const kept = entry.answers as KeptAnswers | undefined
      if (kept !== undefined && kept.usedIn !== this.#generation) entry.answers = undefined
    }
    this.#previous = this.#current
    this.#current = []
    this.#bytes = 0
    this.#generation++
  }
}
