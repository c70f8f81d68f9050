/** Which files of a run are repeated, and what it prints, with made-up test files. */
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { temporaryDirectory } from '../support/waypost.ts'
import { type Ended, madeUpTests, ROOT, runNode } from './made-up-tests.ts'

const RULE = pathToFileURL(join(ROOT, 'scripts/runs/may-fail-once.js')).href
const { reasonToRepeat } = (await import(RULE)) as {
  reasonToRepeat: (ended: { file: string; failures: readonly string[] }) => string | undefined
}

const LIMIT_MS = 180_000
const FIRST = `
import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
const mark = '${temporaryDirectory('marks-')}/' + import.meta.filename.replaceAll('/', '-')
const isFirst = !existsSync(mark)
writeFileSync(mark, '')`

let ended: Ended

beforeAll(async () => {
  const args = madeUpTests({
    'test/clients/once.test.js': `${FIRST}
      test('fails once', () => { console.log('of a failure'); expect(isFirst).toBe(false) })
      test('passes', () => console.log('of a passing', 'test'))`,
    'test/clients/twice.test.js': `${FIRST}
      test('fails twice', () => expect(1).toBe(2))`,
    'test/faults/once.test.js': `${FIRST}
      test('fails once', () => expect(isFirst).toBe(false))`,
    'test/lost.test.js': `${FIRST}
      test('has lost its process', async () => { if (isFirst) process.kill(process.pid, 'SIGKILL') })`,
    'test/lost-early.test.js': `${FIRST}
      if (isFirst) process.kill(process.pid, 'SIGKILL')
      test('comes too late', () => {})`,
  })
  ended = await runNode([join(ROOT, 'scripts/test.js'), ...args])
}, LIMIT_MS)

describe('a file that fails', () => {
  test('is run once more where it drives programs of others, or where its process was lost', () => {
    expect(linesAfter('Failed once:').toSorted()).toEqual([
      expect.stringMatching(/^test\/clients\/once.* > fails once: .* \(clients of others have timers/),
      'test/lost-early.test.js: it did not end (its process was lost)',
      'test/lost.test.js > has lost its process: it did not end (its process was lost)',
    ])
  })

  test('has failed where it fails again, and where it may not fail once', () => {
    expect(linesAfter('Failed:').toSorted()).toEqual([
      expect.stringMatching(/^test\/clients\/twice.test.js > fails twice: /),
      expect.stringMatching(/^test\/faults\/once.test.js > fails once: /),
    ])
  })

  test('is counted in the closing lines', () => {
    expect(ended.output).toContain('\nFailed once: 3\n4 passed, 2 failed\n')
    expect(ended.code).toBe(1)
  })
})

test.each([
  ['test/security/linear-readers.test.ts', undefined],
  ['test/security/linear-readers.night.test.ts', 'measures time'],
  ['test/console-checks.test.ts', undefined],
  ['test/console-checks.night.test.ts', 'measures time'],
])('a file that counts steps has failed, one that measures time is repeated: %s', (file, reason) => {
  expect(reasonToRepeat({ file, failures: ['a failure'] })).toBe(reason)
})

test('what a passing test prints is not shown', () => {
  expect(ended.output).toContain('of a failure')
  expect(ended.output).not.toContain('of a passing test')
})

/** The lines of a closing list. */
function linesAfter(title: string): string[] {
  const [, list = ''] = ended.output.split(`\n${title}\n`)
  return list
    .split('\n\n', 1)[0]!
    .split('\n')
    .map((line) => line.trim())
}
