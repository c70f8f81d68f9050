/** Keeps the first entries in an order of many that come in any order: as cheap for a page of the first as for few entries. */
export class FirstEntries<T> {
  readonly #most: number
  readonly #compare: (a: T, b: T) => number
  #kept: T[] = []
  /** What is not before this one is not among the first. */
  #last: T | undefined
  #count = 0

  constructor(most: number, compare: (a: T, b: T) => number) {
    this.#most = most
    this.#compare = compare
  }

  /** How many have come. */
  get count(): number {
    return this.#count
  }

  add(entry: T): void {
    this.#count++
    if (this.#last !== undefined && this.#compare(entry, this.#last) >= 0) return
    this.#kept.push(entry)
    if (this.#kept.length >= 2 * this.#most + 64) this.#cut()
  }

  /** The first ones, in order. */
  sorted(): readonly T[] {
    this.#cut()
    return this.#kept
  }

  #cut(): void {
    this.#kept.sort(this.#compare)
    if (this.#kept.length < this.#most) return
    this.#kept = this.#kept.slice(0, this.#most)
    this.#last = this.#kept.at(-1)
  }
}
