/**
 * `npm test`: installs and builds what is missing, runs the tests, and closes with the line `N passed, N failed`.
 * Arguments go to vitest, where a plain word is a filter: `npm test -- naming`.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ensureInstalled, root, run } from './prepare.js'

const countFile = join(root, '.cache', `test-count-${process.pid}.json`)

await ensureInstalled()
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const reporters = ['--reporter=default', `--reporter=${join(root, 'scripts', 'count-reporter.js')}`]
const env = { ...process.env, COUNT_FILE: countFile }
const { code } = await run(process.execPath, [vitest, 'run', ...reporters, ...process.argv.slice(2)], { env })
const { passed, failed, skipped, flaky } = takeCount()

if (skipped.length > 0)
  console.log(`${skipped.length} skipped:\n${skipped.map((line) => `  ${line}\n`).join('')}`)
if (flaky.length > 0)
  console.log(
    `${flaky.length} passed on the second try only:\n${flaky.map((line) => `  ${line}\n`).join('')}`,
  )
if (passed + failed === 0) console.log('No test was run.')
// Vitest may fail for a reason that is no test, such as a wrong option.
const failures = failed === 0 && code !== 0 && passed > 0 ? 1 : failed
console.log(`${passed} passed, ${failures} failed`)
process.exitCode = failures > 0 || passed === 0 || code !== 0 ? 1 : 0

function takeCount() {
  if (!existsSync(countFile)) return { passed: 0, failed: 1, skipped: [], flaky: [] }
  const count = JSON.parse(readFileSync(countFile, 'utf8'))
  rmSync(countFile)
  return count
}
