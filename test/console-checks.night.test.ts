/** The checks of the console while people type take time in proportion to the length of the text. */
import { expect, test } from 'vitest'
import { changedKeys } from '../src/formats/changed-keys.ts'
import { check } from '../src/formats/check.ts'
import { secretRanges } from '../src/formats/secrets.ts'
import { CONSOLE_TEXTS } from './support/console-texts.ts'

test.each(CONSOLE_TEXTS)('%s: %s', async (type, _, make) => {
  const costOf = async (text: string): Promise<number> => {
    const startedUs = process.cpuUsage()
    await check(type, text)
    await changedKeys(type, text, `${text}\n`)
    await secretRanges(type, text)
    const { user, system } = process.cpuUsage(startedUs)
    return (user + system) / 1_000
  }
  const [short, long] = [make(2_000), make(16_000)]
  await costOf(short)
  const shortMs = Math.min(await costOf(short), await costOf(short), await costOf(short))
  const longMs = Math.min(await costOf(long), await costOf(long), await costOf(long))
  // Eight times the size costs 64 times as much where it is quadratic. Up to 28 were measured where it is not: maps of many keys, and
  // collections of garbage, begin to cost at some size. Short times are not measured well.
  expect(longMs).toBeLessThan(40 * Math.max(shortMs, 5))
})
