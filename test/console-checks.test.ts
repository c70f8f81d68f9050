/** What the console checks while people type costs as much as the text is long. */
import { describe, expect, test } from 'vitest'
import { changedKeys } from '../console/src/editor/changed-keys.ts'
import { check } from '../console/src/editor/check.ts'

describe('texts of many keys cost as much as they are long', () => {
  const many =
    (line: (index: number) => string, between = '\n') =>
    (count: number) =>
      Array.from({ length: count }, (_, index) => line(index)).join(between)
  const repeated = (text: string) => (count: number) => text.repeat(count)
  test.each<[string, string, (count: number) => string]>([
    ['yaml', 'flat keys', many((index) => `key-${index}: ${index}`)],
    ['yaml', 'the same key', repeated('key: 1\n')],
    ['yaml', 'a flow map', (count) => `{${many((index) => `k${index}: 1`, ', ')(count)}}`],
    ['yaml', 'documents', repeated('a: 1\n---\n')],
    ['yaml', 'wrong lines', repeated('a b\n: : x\n')],
    ['json', 'keys', (count) => `{${many((index) => `"k${index}":1`, ',')(count)}}`],
    ['json', 'the same key', (count) => `{${many(() => '"k":1', ',')(count)}}`],
    ['toml', 'keys', many((index) => `key-${index} = ${index}`)],
    ['toml', 'tables', many((index) => `[t${index}]\na = 1`)],
    ['properties', 'keys', many((index) => `key-${index}=${index}`)],
    ['properties', 'the same key', repeated('key=1\n')],
    ['properties', 'one value in many lines', (count) => `a=${'x\\\n'.repeat(count)}`],
    ['properties', 'backslashes', repeated('\\')],
    ['properties', 'blanks', (count) => `a${' '.repeat(count)}\u2028${' '.repeat(count)}`],
    ['xml', 'elements', (count) => `<a>${'<b>x</b>\n'.repeat(count)}</a>`],
    ['xml', 'elements without an end', (count) => '<a>'.repeat(count / 10)],
  ])('%s: %s', { timeout: 60_000 }, async (type, _, make) => {
    const costOf = async (text: string): Promise<number> => {
      const startedUs = process.cpuUsage()
      await check(type, text)
      await changedKeys(type, text, `${text}\n`)
      const { user, system } = process.cpuUsage(startedUs)
      return (user + system) / 1_000
    }
    const [short, long] = [make(2_000), make(16_000)]
    await costOf(short)
    const shortMs = Math.min(await costOf(short), await costOf(short), await costOf(short))
    const longMs = Math.min(await costOf(long), await costOf(long), await costOf(long))
    // Eight times the size costs 64 times as much where it is quadratic. Up to 28 were measured where it is not: maps of many keys, and
    // collections of garbage, begin to cost at some size. What costs little is not measured well.
    expect(longMs).toBeLessThan(40 * Math.max(shortMs, 5))
  })
})
