/** Sub-buckets of each power of two. The error of a value is below 1/64. */
const STEPS = 64
const LEAST_EXPONENT = 6

/** A histogram as a message between processes. */
export type HistogramCounts = readonly number[]

/** Counts durations in buckets that grow with the value, so that high percentiles are exact to 1.6 %. */
export class Histogram {
  readonly #counts: number[] = []
  #total = 0

  get total(): number {
    return this.#total
  }

  /** Adds one duration, in milliseconds. */
  add(ms: number): void {
    const bucket = bucketOf(Math.max(0, Math.round(ms * 1_000)))
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#total++
  }

  /** The percentile of this share (0.99) in milliseconds; 0 without durations. */
  percentile(share: number): number {
    const wanted = Math.max(1, Math.ceil(this.#total * share))
    let seen = 0
    for (let bucket = 0; bucket < this.#counts.length; bucket++) {
      seen += this.#counts[bucket] ?? 0
      if (seen >= wanted) return topOf(bucket) / 1_000
    }
    return 0
  }

  /** Adds the counts of another process. */
  merge(counts: HistogramCounts): void {
    for (const [bucket, count] of counts.entries()) {
      if (!count) continue
      this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count
      this.#total += count
    }
  }

  counts(): HistogramCounts {
    return Array.from(this.#counts, (count) => count ?? 0)
  }

  static of(counts: HistogramCounts): Histogram {
    const histogram = new Histogram()
    histogram.merge(counts)
    return histogram
  }
}

function bucketOf(us: number): number {
  if (us < STEPS) return us
  const shift = 31 - Math.clz32(us) - LEAST_EXPONENT
  return STEPS * (shift + 1) + ((us >>> shift) - STEPS)
}

/** The largest value of a bucket, in microseconds. */
function topOf(bucket: number): number {
  if (bucket < STEPS) return bucket
  const shift = Math.floor(bucket / STEPS) - 1
  return ((bucket % STEPS) + STEPS + 1) * 2 ** shift - 1
}
