/**
 * The checks of the console while people type take steps in proportion to the length of the text. `console-checks.night.test.ts`
 * has the times.
 */
import { growth, MOST_GROWTH } from './support/steps.ts'
import { expect, test } from 'vitest'
import { changedKeys } from '../src/formats/changed-keys.ts'
import { check } from '../src/formats/check.ts'
import { secretRanges } from '../src/formats/secrets.ts'
import { CONSOLE_TEXTS } from './support/console-texts.ts'

/** At each part of a flow map the reader of YAML looks for the end of the line: quadratic, but as fast as memory. The night has its time. */
const LINEAR = CONSOLE_TEXTS.filter(([, parts]) => parts !== 'a flow map')

test.each(LINEAR)('%s: %s', async (type, _, make) => {
  const found = await growth(
    async (text) => {
      await check(type, text)
      await changedKeys(type, text, `${text}\n`)
      await secretRanges(type, text)
    },
    [make(250), make(2_000)],
  )
  expect(found).toBeLessThan(MOST_GROWTH)
})
