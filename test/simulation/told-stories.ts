import { type Arbitrary, assert, asyncProperty } from 'fast-check'
import { test } from 'vitest'
import { FILE_SECONDS, report, seed, times } from '../faults/fault-run.ts'

/** Stories of one kind, each of which must be told without a violation. */
export interface Telling<Story> {
  /** For the line of results: `of three servers`. */
  readonly kind: string
  readonly stories: Arbitrary<Story>
  readonly tell: (story: Story) => Promise<void>
  readonly runs: number
  /** The share of the time of the file, where that is limited. */
  readonly share?: number
}

/**
 * How many stories a file tells: `npm run test:faults -- simulation` tells 100,000; `SIMULATION_RUNS` and `FAULT_SEED` set
 * others.
 */
export const runsOf = (short: number): number => times('SIMULATION_RUNS', { short, long: 100_000 })

/** A test that tells stories. */
export function testOfStories<Story>(title: string, telling: Telling<Story>): void {
  const { kind, stories, tell, runs, share = 1 } = telling
  const limit =
    FILE_SECONDS === Infinity
      ? {}
      : { interruptAfterTimeLimit: FILE_SECONDS * share * 1_000, markInterruptAsFailure: false }
  test(`${title}`, { timeout: 60_000 + runs * 60 }, async () => {
    let told = 0
    const property = asyncProperty(stories, async (story) => {
      told++
      await tell(story)
    })
    await assert(property, { numRuns: runs, seed, ...limit })
    report(`simulation: ${told} stories ${kind}, no violation`)
  })
}
