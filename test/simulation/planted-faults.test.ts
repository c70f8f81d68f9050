import { asyncProperty, check } from 'fast-check'
import { expect, test } from 'vitest'
import { seed } from '../faults/fault-run.ts'
import { FAULTS } from './planted-faults.ts'
import { stories, tell } from './story.ts'

/** As many as `npm test` tells of the servers as they are. */
const MOST_RUNS = 2_000

test.each(Object.entries(FAULTS))('the simulation finds %s', { timeout: 60_000 }, async (name, planted) => {
  const { failed, numRuns, errorInstance } = await check(
    asyncProperty(stories, (story) => tell(story, planted)),
    { numRuns: MOST_RUNS, seed, endOnFailure: true },
  )
  expect(failed, `${name} stays unnoticed in ${numRuns} stories (seed ${seed})`).toBe(true)
  expect(errorInstance).toMatchObject({ name: 'Violation' })
  console.log(`${name}: found in story ${numRuns}, ${String(errorInstance).split('\n')[0]}`)
})
