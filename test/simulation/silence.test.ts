import { assert, asyncProperty } from 'fast-check'
import { test } from 'vitest'
import { report, seed, times } from '../faults/fault-run.ts'
import { silenceStories, tellOfSilence } from './silence-story.ts'

/** As in simulation.test.ts. */
const runs = times('SIMULATION_RUNS', { short: 2_000, long: 100_000 })

test(
  'three servers that judge silence: what beats at a live one is never unhealthy or removed, whoever dies, freezes or is cut off, and what is dead leaves',
  { timeout: 60_000 + runs * 60 },
  async () => {
    await assert(
      asyncProperty(silenceStories, (story) => tellOfSilence(story)),
      { numRuns: runs, seed },
    )
    report(`simulation: ${runs} stories of three servers that judge silence, no violation`)
  },
)
