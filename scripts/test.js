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
const { code } = await run(process.execPath, [vitest, 'run', ...reporters, ...args], { env })
const seconds = (performance.now() - began) / 1000
const { passed, failures, skipped, slowest } = takeCount()
// Vitest may fail for another reason than a test, such as a wrong option.
if (failures.length === 0 && code !== 0 && passed > 0) failures.push(`vitest ended with code ${code}`)
const failed = failures.length

printList(`${skipped.length} skipped`, skipped)
printList(
  `The slowest of ${seconds.toFixed(0)} s in all`,
  slowest.map(({ name, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${name}`),
)
if (passed + failed === 0) console.log('No test was run.')
if (passed + failed === 0 && part === '--short') console.log('`npm run test:all` has long tests, too.')
printList('Failed', failures)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 || passed === 0 || code !== 0 ? 1 : 0

function printList(title, lines) {
  if (lines.length > 0) console.log(`${title}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}

function takeCount() {
  if (!existsSync(countFile))
    return { passed: 0, failures: ['vitest did not come to its end'], skipped: [], slowest: [] }
  const count = JSON.parse(readFileSync(countFile, 'utf8'))
  rmSync(countFile)
  return count
}
