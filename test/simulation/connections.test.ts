import { assert, asyncProperty } from 'fast-check'
import { test } from 'vitest'
import { report, seed, times } from '../faults/fault-run.ts'
import { connectionStories, tellOfConnections } from './connection-story.ts'

/** As in simulation.test.ts. */
const runs = times('SIMULATION_RUNS', { short: 1_000, long: 100_000 })

test(
  'three servers with connections: what a live one publishes stays or comes back, what a closed one has published goes at once, and what a dead server leaves stays for a while',
  { timeout: 60_000 + runs * 60 },
  async () => {
    await assert(
      asyncProperty(connectionStories, (story) => tellOfConnections(story)),
      { numRuns: runs, seed },
    )
    report(`simulation: ${runs} stories of three servers with connections, no violation`)
  },
)
