/** Input of clients is read in time that grows with its length, whatever it is made of. */
import { describe, expect, test } from 'vitest'
import { ALL_SHAPES, type Reader, READERS, readOrRefuse, STARTS } from './readers.ts'

/**
 * The processor time of reading a text, in ms: the least of some runs, because other threads of the process count too. The times
 * in `/proc` (`processor-time.ts`) are not those of this moment for a thread that is running.
 */
async function cost(read: Reader['read'], text: string): Promise<number> {
  let least = Infinity
  for (let run = 0; run < 2; run++) {
    const before = process.cpuUsage()
    await readOrRefuse(read, text)
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1_000)
  }
  return least
}

/** Below this, differences are noise. */
const NOISE_MS = 15

/** How often a pair is measured: the garbage collection of a run may cost more than the reading. */
const MOST_PAIRS = 4

describe.each(Object.entries(READERS))('%s', (_, { largest, read }) => {
  test.each(Object.entries(ALL_SHAPES))('of %s', async (__, shape) => {
    for (const start of STARTS) {
      const [small, large] = [start + shape(largest / 4), start + shape(largest * 0.99)]
      // The least of all runs counts, of both.
      let [least, most] = [Infinity, Infinity]
      for (let pair = 0; pair < MOST_PAIRS && (pair === 0 || most > 6 * least + NOISE_MS); pair++) {
        least = Math.min(least, await cost(read, small))
        most = Math.min(most, await cost(read, large))
      }
      expect(most, start).toBeLessThanOrEqual(6 * least + NOISE_MS)
    }
  })
})
