import { assert, asyncProperty } from 'fast-check'
import { test } from 'vitest'
import { report, seed, times } from '../faults/fault-run.ts'
import { stories, storiesOfAnyCommand, tell, tellOfAnyCommand } from './story.ts'

/** `npm run test:faults -- simulation` does 100,000; `SIMULATION_RUNS` and `FAULT_SEED` set others. */
const runs = times('SIMULATION_RUNS', { short: 2_000, long: 100_000 })

test(
  'three servers on one store: whatever is delayed, lost or refused, and whoever dies, answers are linearizable, watchers never go back, no history is missing, and all servers end equal',
  { timeout: 60_000 + runs * 60 },
  async () => {
    await assert(
      asyncProperty(stories, (story) => tell(story)),
      { numRuns: runs, seed },
    )
    report(`simulation: ${runs} stories of three servers, no violation`)
  },
)

test(
  'three servers that execute commands of every kind end equal, also to one that starts then',
  { timeout: 60_000 + runs * 60 },
  async () => {
    await assert(
      asyncProperty(storiesOfAnyCommand, (story) => tellOfAnyCommand(story)),
      { numRuns: runs / 2, seed },
    )
    report(`simulation: ${runs / 2} stories of commands of every kind, all servers equal`)
  },
)
