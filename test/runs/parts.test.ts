/** The parts of a run: their limits, and what they leave behind. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { type Ended, madeUpTests, ROOT, runNode } from './made-up-tests.ts'

const LIMIT_MS = 180_000
/** The tests of the part that hangs begin within it. */
const HANGING_MINUTES = 0.5
/** How long a process sleeps that nobody ends. No other process sleeps so long. */
const SLEEPS = ['98765401', '98765402', '98765403']

const isLinux = process.platform === 'linux'
let ended: Ended

beforeAll(async () => {
  // One test ends a second after the other one has begun. For vitest gathers its reports for 100 ms, and its timer may fire so
  // early that they wait for the next report.
  const hanging = madeUpTests({
    'test/hangs.test.js': `
      import { spawn } from 'node:child_process'
      import { test } from 'vitest'
      const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms))
      test.concurrent('ends', () => wait(1000))
      test.concurrent('hangs', async () => {
        spawn('sleep', ['${SLEEPS[0]}'], { detached: true }).unref()
        await wait(1e6)
      }, 1e6)`,
  })
  const good = madeUpTests({ 'test/good.test.js': `import { test } from 'vitest'; test('passes', () => {})` })
  const leaving = `setsid sleep ${SLEEPS[1]} & sleep ${SLEEPS[2]} & echo begun`
  const parts = pathToFileURL(join(ROOT, 'scripts/runs/parts.js')).href
  ended = await runNode([
    '--input-type=module',
    '--eval',
    `import { runNamed, testPart } from '${parts}'
    process.exitCode = await runNamed([
      testPart('hangs', 'about it', { minutes: ${HANGING_MINUTES}, tests: ${JSON.stringify(hanging)} }),
      { name: 'leaves', about: 'processes', minutes: 1, command: ['bash', '-c', '${leaving}'] },
      { name: 'fails', about: 'with a code', minutes: 1, command: ['bash', '-c', 'exit 7'] },
      testPart('good', 'about it', { minutes: 2, tests: ${JSON.stringify(good)} }),
    ], [], { env: {} })`,
  ])
}, LIMIT_MS)

describe.skipIf(!isLinux)('a part (its processes are found on Linux)', () => {
  test('that does not end in time is ended, and names the test that runs', () => {
    expect(ended.output).toMatch(
      /hangs: did not end within 0.5 min. It ran: test\/hangs.test.js for \d+ s > hangs\n/,
    )
  })

  test('that fails keeps no other part from running', () => {
    expect(ended.output).toContain('  fails: ended with code 7\n')
    expect(ended.output).toMatch(/\n *\d+ s {2}hangs\n *\d+ s {2}leaves\n *\d+ s {2}fails\n *\d+ s {2}good\n/)
    expect(ended.output.endsWith('\n1 passed, 2 failed\n')).toBe(true)
    expect(ended.code).toBe(1)
  })

  test('leaves no process behind, and names those that it had left', () => {
    expect(ended.output).toMatch(/Left behind, and ended: .*sleep 98765402/)
    expect(commandLines().filter((line) => SLEEPS.some((time) => line.includes(time)))).toEqual([])
  })
})

function commandLines(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      } catch {
        return ''
      }
    })
}
