/** Bounds for durations in seconds: from a read of memory to a held poll. */
export const SECONDS: readonly number[] = [
  0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** Bounds for the sizes of batches. */
export const SIZES: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]

/** Counts values in buckets. The counts are plain numbers, so an observation costs nanoseconds. */
export class Histogram {
  /** Upper bounds, inclusive and rising. */
  readonly bounds: readonly number[]
  /** The number of values in each bucket. The last bucket has the values above all bounds. */
  readonly #counts: Float64Array
  #sum = 0

  constructor(bounds: readonly number[]) {
    this.bounds = bounds
    this.#counts = new Float64Array(bounds.length + 1)
  }

  observe(value: number): void {
    const { bounds } = this
    let bucket = 0
    while (bucket < bounds.length && value > bounds[bucket]!) bucket++
    this.#counts[bucket]!++
    this.#sum += value
  }

  /** The sum of all values. */
  get sum(): number {
    return this.#sum
  }

  /** The number of values. */
  get count(): number {
    return this.cumulative().at(-1) ?? 0
  }

  /** For each bound the number of values up to it, and at the end the number of all values. */
  cumulative(): number[] {
    let total = 0
    return Array.from(this.#counts, (count) => (total += count))
  }
}
