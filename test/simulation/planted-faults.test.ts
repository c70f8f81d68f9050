import { type Arbitrary, asyncProperty, check } from 'fast-check'
import { expect, test } from 'vitest'
import { seed } from '../faults/fault-run.ts'
import { connectionStories, tellOfConnections } from './connection-story.ts'
import { FAULTS, FAULTS_OF_CONNECTIONS, FAULTS_OF_JUDGES } from './planted-faults.ts'
import { silenceStories, tellOfSilence } from './silence-story.ts'
import { stories, tell } from './story.ts'

/** The rarest one is found in one of some 400 stories: an unlucky seed must not fail the test. */
const MOST_RUNS = 10_000

test.each(Object.entries(FAULTS))('the simulation finds %s', { timeout: 120_000 }, async (name, planted) => {
  await expectFound(name, stories, (story) => tell(story, planted))
})

test.each(Object.entries(FAULTS_OF_JUDGES))(
  'the simulation of silence finds %s',
  { timeout: 120_000 },
  async (name, planted) => {
    await expectFound(name, silenceStories, (story) => tellOfSilence(story, planted))
  },
)

test.each(Object.entries(FAULTS_OF_CONNECTIONS))(
  'the simulation of connections finds %s',
  { timeout: 120_000 },
  async (name, planted) => {
    await expectFound(name, connectionStories, (story) => tellOfConnections(story, planted))
  },
)

async function expectFound<Story>(
  name: string,
  anyStory: Arbitrary<Story>,
  told: (story: Story) => Promise<void>,
): Promise<void> {
  const { failed, numRuns, errorInstance } = await check(asyncProperty(anyStory, told), {
    numRuns: MOST_RUNS,
    seed,
    endOnFailure: true,
  })
  expect(failed, `${name} stays unnoticed in ${numRuns} stories (seed ${seed})`).toBe(true)
  expect(errorInstance).toMatchObject({ name: 'Violation' })
  console.log(`${name}: found in story ${numRuns}, ${String(errorInstance).split('\n')[0]}`)
}
