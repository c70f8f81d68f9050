/**
 * `npm test`, `npm run test:all` and what `.ci/run` runs beside them: installs and builds what is missing, runs the tests,
 * prints the total time and the slowest tests, and closes with the line `N passed, N failed`.
 * The first argument may be the part; without one all tests are run. Further arguments go to vitest, where a plain word is a
 * filter: `npm test -- naming`.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, root, run } from './prepare.js'

/** The options of vitest for each part. The projects are in vitest.config.ts. */
const PARTS = {
  '--short': ['--project=short*'],
  '--long': ['--project=!short*'],
  // Unit tests, their files and the tests of each file in random order: vitest prints the seed.
  '--random': ['--project=short-unit*', '--sequence.shuffle.files', '--sequence.shuffle.tests'],
}

/**
 * Tests that drive clients and browsers of others, and tests that compare processor times, which a second test process beside them
 * disturbs. A file that fails there is run once more, alone, and both results are printed. So is a file whose process has ended in
 * the middle. All other tests are run once: what fails one time in many is a fault.
 */
const TWICE = [
  'test/clients/',
  'test/browser/',
  'test/console-checks.test.ts',
  'test/security/cost-of-input.test.ts',
  'test/security/linear-readers.test.ts',
  'test/security/unknown-callers.test.ts',
]

/** What vitest says outside every test when a process of its own has ended. */
const LOST_PROCESS = /^outside every test: \[vitest-pool\]: Worker forks emitted error/

const countFile = join(root, '.cache', `test-count-${process.pid}.json`)

endWithNpm()
await ensureInstalled()
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'count-reporter.js')}`]
const [first, ...others] = process.argv.slice(2)
const part = first !== undefined && Object.hasOwn(PARTS, first) ? first : undefined
const args = part === undefined ? process.argv.slice(2) : [...PARTS[part], ...others]
const env = { ...process.env, COUNT_FILE: countFile }
const began = performance.now()
const firstRun = await runVitest(args)
const repeated = firstRun.files.filter(
  (one) => (mayRunTwice(one.file) && one.failures.length > 0) || wasCutOff(one),
)
const count = repeated.length === 0 ? firstRun : await runAgain(firstRun, repeated)
const seconds = (performance.now() - began) / 1000
const failures = count.files.flatMap((file) => file.failures)
const passed = count.files.reduce((sum, file) => sum + file.passed, 0)
const failed = failures.length

printList(`${count.skipped.length} skipped`, count.skipped)
printList(
  `The slowest of ${seconds.toFixed(0)} s in all`,
  count.slowest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`),
)
if (passed + failed === 0) console.log('No test was run.')
if (passed + failed === 0 && part === '--short') console.log('`npm run test:all` has long tests, too.')
printList(
  'Failed once',
  repeated.flatMap((file) => file.failures),
)
printList('Failed', failures)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 ? 1 : 0

/** Runs vitest, and returns its count. Vitest may fail for another reason than a test, such as a wrong option. */
async function runVitest(options) {
  const { code } = await run(process.execPath, [vitest, 'run', ...reporters, ...options], { env })
  const found = takeCount()
  const { files } = found
  const isQuiet = files.every((file) => file.failures.length === 0)
  if (isQuiet && code !== 0 && files.some((file) => file.passed > 0))
    found.files.push(broken(`vitest ended with code ${code}`))
  return found
}

/** Whether the tests of this file depend on the time of programs that are not ours, or on a quiet processor. */
function mayRunTwice(file) {
  return TWICE.some((start) => file.startsWith(start))
}

/** Whether the process of a file has ended in the middle: no test has failed, but some have not ended. The system may have ended it. */
function wasCutOff({ file, failures }) {
  return (
    file !== '' && failures.length > 0 && failures.every((failure) => failure.endsWith(': it did not end'))
  )
}

/** Runs these files once more, alone. What they give now counts instead of what they gave first. */
async function runAgain(before, files) {
  const names = [...new Set(files.map(({ file }) => file))]
  console.log(`Failed, and run once more: ${names.join(', ')}`)
  const again = await runVitest([...(PARTS[part] ?? []), '--no-file-parallelism', ...names])
  const others = before.files.filter(({ file }) => !names.includes(file))
  if (files.some(wasCutOff))
    for (const one of others) one.failures = one.failures.filter((failure) => !LOST_PROCESS.test(failure))
  return { ...before, files: [...others, ...again.files] }
}

function printList(title, lines) {
  if (lines.length > 0) console.log(`${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

function takeCount() {
  if (!existsSync(countFile))
    return { files: [broken('vitest did not come to its end')], skipped: [], slowest: [] }
  const found = JSON.parse(readFileSync(countFile, 'utf8'))
  rmSync(countFile)
  return found
}

function broken(reason) {
  return { file: '', passed: 0, failures: [reason] }
}
