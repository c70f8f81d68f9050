import type { Turns } from '../../core/work/long-walks.ts'

/** More entries than this are not cut while they come: the cut would hold the loop for longer than a slice. */
const CUT_AT_ONCE = 2_000
/** How many are sorted, or merged, before the clock is checked again. */
const AT_ONCE = 1_000

/**
 * Keeps the first entries, in an order, of many that come in any order. A page of the first costs as little
 * as for few entries.
 */
export class FirstEntries<T> {
  readonly #most: number
  readonly #compare: (a: T, b: T) => number
  #kept: T[] = []
  /** An entry that is not before this one is not among the first. */
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
    if (this.#most <= CUT_AT_ONCE && this.#kept.length >= 2 * this.#most + 64) this.#cut()
  }

  /** The first ones, in order. For many, others have their turn meanwhile. */
  async sorted(turns: Turns): Promise<readonly T[]> {
    if (this.#most <= CUT_AT_ONCE) this.#cut()
    else this.#kept = (await sortedInTurns(this.#kept, this.#compare, turns)).slice(0, this.#most)
    return this.#kept
  }

  #cut(): void {
    this.#kept.sort(this.#compare)
    if (this.#kept.length < this.#most) return
    this.#kept = this.#kept.slice(0, this.#most)
    this.#last = this.#kept.at(-1)
  }
}

/** The list in order: short runs are sorted, then merged, and others have their turn between. */
export async function sortedInTurns<T>(
  list: readonly T[],
  compare: (a: T, b: T) => number,
  turns: Turns,
): Promise<T[]> {
  let runs: T[][] = []
  for (let from = 0; from < list.length; from += AT_ONCE) {
    runs.push(list.slice(from, from + AT_ONCE).sort(compare))
    if (turns.isDue) await turns.turn()
  }
  while (runs.length > 1) {
    const merged: T[][] = []
    for (let at = 0; at < runs.length; at += 2) {
      const merge = new Merge(runs[at]!, runs[at + 1] ?? [], compare)
      while (merge.step()) if (turns.isDue) await turns.turn()
      merged.push(merge.merged)
    }
    runs = merged
  }
  return runs[0] ?? []
}

/** Two lists in order, becoming one. */
class Merge<T> {
  readonly merged: T[] = []
  readonly #left: readonly T[]
  readonly #right: readonly T[]
  readonly #compare: (a: T, b: T) => number
  #leftAt = 0
  #rightAt = 0

  constructor(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number) {
    this.#left = left
    this.#right = right
    this.#compare = compare
  }

  /** Merges a little more; whether there is more to merge. */
  step(): boolean {
    const [left, right] = [this.#left, this.#right]
    for (let done = 0; done < AT_ONCE; done++) {
      const isLeft =
        this.#rightAt >= right.length ||
        (this.#leftAt < left.length && this.#compare(left[this.#leftAt]!, right[this.#rightAt]!) <= 0)
      if (this.#leftAt >= left.length && this.#rightAt >= right.length) return false
      this.merged.push(isLeft ? left[this.#leftAt++]! : right[this.#rightAt++]!)
    }
    return true
  }
}
