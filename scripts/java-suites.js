/**
 * `npm run java-suites -- --checkout DIR`: runs the Java server's own suites, from a checkout of 1.4.8 or 2.5.1, against
 * servers of ours, and prints a table. `--only WORD` runs the suites whose names contain it. docs/java-suites.md names the
 * suites that are left out and the tests that are known to fail: another failure makes the exit code 1. What was thrown is
 * in `.cache/java-suites/VERSION/failures.txt`.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs, promisify } from 'node:util'
import { compileSuites } from './java-checkout.js'
import { endWithNpm, prepare, root } from './prepare.js'
import { endWithUs, startSuiteServer } from './suite-server.js'

const execute = promisify(execFile)
const SUITE_LIMIT_MS = 15 * 60_000
/** Most of their time the suites wait. */
const AT_ONCE = 3
const OPENED = ['java.lang', 'java.lang.reflect', 'java.util']

endWithNpm()
const { values } = parseArgs({
  options: { checkout: { type: 'string' }, only: { type: 'string', default: '' } },
})
if (values.checkout === undefined) throw new Error('say where the checkout is: --checkout DIR')
await prepare()
const folder = mkdtempSync(join(tmpdir(), 'waypost-suites-'))
process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
const rows = tableRows(readFileSync(join(root, 'docs', 'java-suites.md'), 'utf8'))
const isLeftOut = (suite) => rows.some((row) => row.suite === suite && row.test === 'all')
const { version, suites, scratch } = await compileSuites(resolve(values.checkout), isLeftOut)
const waiting = suites.filter(({ name }) => name.includes(values.only))
const results = []
await Promise.all(Array.from({ length: AT_ONCE }, runWaiting))
report()

/** The rows of the tables of the page: server, suite, test (`all`: the suite is left out), reason. */
function tableRows(page) {
  return page
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .filter((cells) => /^\d+\.\d+\.\d+$/.test(cells[1] ?? ''))
    .map(([, server, suite, test, reason]) => ({ server, suite, test, reason }))
}

async function runWaiting() {
  for (let suite = waiting.shift(); suite !== undefined; suite = waiting.shift()) {
    const tests = await runSuite(suite)
    results.push({ name: suite.name, tests })
    console.error(`${suite.name}: ${countOf(tests, 'passed')} passed, ${countOf(tests, 'failed')} failed`)
  }
}

/** Runs a suite against a fresh server. Resolves with its tests; a suite that fails as a whole counts as one. */
async function runSuite(suite) {
  const home = join(folder, suite.name)
  mkdirSync(home)
  const server = await startSuiteServer(home, needsOf(suite))
  const file = join(home, 'results.jsonl')
  writeFileSync(file, '')
  const properties = {
    'waypost.port': server.port,
    'nacos.home': home,
    'user.home': home,
  }
  const flags = Object.entries(properties).map(([key, value]) => `-D${key}=${value}`)
  const opened = OPENED.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`)
  const run = ['-cp', suite.classpath, 'SuiteRunner', suite.className, file]
  const limits = { cwd: home, timeout: SUITE_LIMIT_MS, killSignal: 'SIGKILL', maxBuffer: Infinity }
  const running = execute('java', [...opened, ...flags, '-Xmx512m', ...run], limits)
  endWithUs(running.child)
  const error = await running.then(
    () => undefined,
    (thrown) => thrown.stderr || thrown.message,
  )
  await server.stop()
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const tests = lines.map((line) => JSON.parse(line))
  return error === undefined ? tests : [...tests, { name: 'all of it', outcome: 'failed', detail: error }]
}

/** The expectations of a suite about its server, as its source says. */
function needsOf({ name, text }) {
  return {
    signIn: /(Auth|Permission|Role|User)(_|Core)/.test(name),
    defaultPort: text.includes('"serverAddr", "127.0.0.1")'),
  }
}

function report() {
  const known = new Map(
    rows.filter(({ server }) => server === version).map((row) => [`${row.suite} ${row.test}`, row.reason]),
  )
  let unknown = 0
  const details = []
  const totals = { passed: 0, failed: 0, skipped: 0 }
  results.sort((one, other) => one.name.localeCompare(other.name))
  console.log(tableLine('suite', 'passed', 'failed', 'skipped'))
  for (const { name, tests } of results) {
    for (const outcome of Object.keys(totals)) totals[outcome] += countOf(tests, outcome)
    console.log(tableLine(name, ...Object.keys(totals).map((outcome) => countOf(tests, outcome))))
    for (const test of tests.filter(({ outcome }) => outcome === 'failed')) {
      const reason = known.get(`${name} ${test.name}`)
      if (reason === undefined) unknown++
      console.log(`    ${test.name}: ${reason ?? 'NOT KNOWN'}`)
      details.push(`${name} ${test.name}\n${test.detail}`)
    }
  }
  writeFileSync(join(scratch, 'failures.txt'), details.join('\n'))
  const { passed, failed } = totals
  console.log(
    `${version}: ${passed} of ${passed + failed} passed, ${failed - unknown} failed as known, ${unknown} failed`,
  )
  process.exit(unknown === 0 ? 0 : 1)
}

function tableLine(name, ...numbers) {
  return name.padEnd(60) + numbers.map((number) => String(number).padStart(8)).join('')
}

function countOf(tests, outcome) {
  return tests.filter((test) => test.outcome === outcome).length
}
