/** The kept answers of a service. `usedIn` belongs to {@link RecentAnswers}: the generation of the last use. */
export interface KeptAnswers {
  readonly bytes: number
  usedIn: number
}

/** The `usedIn` of answers that nobody has asked for yet. */
export const UNUSED = -1

/** The most bytes of a generation: the answers of a million instances are 350 to 450 MB, and all in use should stay. */
const MOST_BYTES = 512 * 1024 * 1024

/**
 * Bounds the memory of the answers of all services: answers that were not used of late are forgotten, and built again
 * when somebody asks. There are two generations of at most `mostBytes` each, so nothing is sorted, and a use costs a
 * comparison.
 */
export class RecentAnswers<T extends KeptAnswers> {
  readonly #forget: (kept: T) => void
  readonly #most: number
  #generation = 0
  #bytes = 0
  #current: T[] = []
  #previous: T[] = []

  constructor(forget: (kept: T) => void, mostBytes = MOST_BYTES) {
    this.#forget = forget
    this.#most = mostBytes
  }

  /** Notes that `kept` is used, and has grown by `addedBytes`. */
  use(kept: T, addedBytes: number): void {
    if (kept.usedIn === this.#generation) this.#bytes += addedBytes
    else {
      kept.usedIn = this.#generation
      this.#current.push(kept)
      this.#bytes += kept.bytes
    }
    if (this.#bytes > this.#most) this.#nextGeneration()
  }

  #nextGeneration(): void {
    for (const kept of this.#previous) if (kept.usedIn !== this.#generation) this.#forget(kept)
    this.#previous = this.#current
    this.#current = []
    this.#bytes = 0
    this.#generation++
  }
}
