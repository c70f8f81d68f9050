/** Stories of every kind: few, so that `npm test` has them. The other files of this folder have the rest. */
import { type Arbitrary, assert, asyncProperty } from 'fast-check'
import { test } from 'vitest'
import { report, seed } from '../faults/fault-run.ts'
import { connectionStories, tellOfConnections } from './connection-story.ts'
import { silenceStories, tellOfSilence } from './silence-story.ts'
import { stories, storiesOfAnyCommand, tell, tellOfAnyCommand } from './story.ts'

const RUNS = 50

test.each([
  ['of three servers', stories, tell],
  ['of commands of every kind', storiesOfAnyCommand, tellOfAnyCommand],
  ['of servers that judge silence', silenceStories, tellOfSilence],
  ['of servers with connections', connectionStories, tellOfConnections],
] as [string, Arbitrary<unknown>, (story: unknown) => Promise<void>][])(
  `${RUNS} stories %s have no violation`,
  { timeout: 60_000 },
  async (name, anyStory, tells) => {
    await assert(
      asyncProperty(anyStory, (story) => tells(story)),
      { numRuns: RUNS, seed },
    )
    report(`simulation: ${RUNS} stories ${name}, no violation`)
  },
)
