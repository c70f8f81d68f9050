/**
 * `npm test`, `npm run test:all` and the tests of `.ci/run` and `npm run test:nightly`: installs and builds what is missing, runs
 * the tests, prints what failed, the total time and the slowest tests, and closes with the line `N passed, N failed`. Arguments
 * go to vitest, where a plain word is a filter: `npm test -- naming`. `--short` is for `npm test`. `--seed N` repeats the order of the unit tests, and the
 * random input of others.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, root, run } from './prepare.js'
import { close, NO_RESULT, sumOf } from './runs/closing.js'
import { failuresBeside, reasonToRepeat } from './runs/may-fail-once.js'
import { seedVariables, takeSeed } from './runs/seed.js'

const SHORT = '--project=short*'
/** A part of a longer run, whose closing lines say this too. */
const { RESULT_FILE } = process.env

endWithNpm()
await ensureInstalled()
const { seed, isGiven, rest } = takeSeed(process.argv.slice(2))
const args = rest.map((arg) => (arg === '--short' ? SHORT : arg))
const countFile = process.env.COUNT_FILE ?? join(root, '.cache', `test-count-${process.pid}.json`)
const env = { ...process.env, ...seedVariables(seed), COUNT_FILE: countFile }
if (!isGiven) console.log(`Seed ${seed}: \`--seed ${seed}\` repeats it`)
const began = performance.now()
const result = await resultOf(args)
if (RESULT_FILE !== undefined) writeFileSync(RESULT_FILE, JSON.stringify(result))
const hasRun = result.passed + result.failures.length > 0
if (!hasRun) console.log('No test was run.')
if (!hasRun && args.includes(SHORT)) console.log('`npm run test:all` has long tests, too.')
close(
  RESULT_FILE === undefined ? result : { ...result, slowest: [], skipped: [] },
  (performance.now() - began) / 1000,
)
process.exitCode = result.failures.length > 0 || result.passed === 0 ? 1 : 0

/** Runs the tests, and once more, alone, the files that may fail once. The second result of those counts. */
async function resultOf(options) {
  const first = await runVitest(options)
  const repeated = first.files.filter((file) => reasonToRepeat(file) !== undefined)
  if (repeated.length === 0) return closingOf(first)
  const names = [...new Set(repeated.map(({ file }) => file))]
  console.log(`Failed, and run once more: ${names.join(', ')}`)
  const kept = options.filter((option) => /^--(?:project|config|root)=/.test(option))
  const second = await runVitest([...kept, '--no-file-parallelism', ...names])
  const others = first.files.filter(({ file }) => !names.includes(file))
  for (const one of others) one.failures = failuresBeside(one.failures, repeated)
  return sumOf([
    closingOf({ ...first, files: others }),
    { ...closingOf({ ...second, skipped: [], slowest: [] }), failedOnce: failedOnce(repeated, second) },
  ])
}

/** The first failures of the files that passed when they were repeated, with the reason why they may fail once. */
function failedOnce(repeated, second) {
  const failedAgain = second.files.filter(({ failures }) => failures.length > 0).map(({ file }) => file)
  return repeated
    .filter(({ file }) => !failedAgain.includes(file))
    .flatMap((file) => file.failures.map((failure) => `${failure} (${reasonToRepeat(file)})`))
}

function closingOf({ files, skipped, slowest }) {
  const passed = files.reduce((sum, file) => sum + file.passed, 0)
  return { ...NO_RESULT, passed, failures: files.flatMap((file) => file.failures), skipped, slowest }
}

/** Runs vitest, and returns its count. Vitest may fail for another reason than a test, such as a wrong option. */
async function runVitest(options) {
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  const reporter = `--reporter=${join(root, 'scripts', 'runs', 'run-reporter.js')}`
  const { code } = await run(process.execPath, [vitest, 'run', reporter, ...options], { env })
  const found = takeCount()
  const { files } = found
  const isQuiet = files.every((file) => file.failures.length === 0)
  if (isQuiet && code !== 0 && files.some((file) => file.passed > 0))
    found.files.push(broken(`vitest ended with code ${code}`))
  return found
}

function takeCount() {
  const count = existsSync(countFile) ? JSON.parse(readFileSync(countFile, 'utf8')) : undefined
  rmSync(countFile, { force: true })
  if (count?.hasEnded) return count
  const files = [...(count?.files ?? []), broken('vitest did not come to its end')]
  return { files, skipped: [], slowest: [] }
}

function broken(reason) {
  return { file: '', passed: 0, failures: [reason] }
}
