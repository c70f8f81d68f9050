/**
 * `npm run test:faults`: the long form of the tests in test/faults, for hours rather than minutes. Arguments go to vitest:
 * `npm run test:faults -- kills`. The numbers are in `docs/reliability.md`; the figures are kept in `.cache/fault-results.txt`.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, root, run } from './prepare.js'

const tests = join('test', 'faults')

endWithNpm()
await ensureInstalled()
const words = process.argv.slice(2)
const isFilter = (word) => !word.startsWith('-')
const filters = words.some(isFilter) ? words.map(narrowed) : [tests, ...words]
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const env = { ...process.env, FAULTS: 'long' }
// One after the other: each has the machine to itself.
const { code } = await run(process.execPath, [vitest, 'run', '--no-file-parallelism', ...filters], { env })
process.exitCode = code

/** `cluster` is a directory of src too, and only tests of faults are meant. A word such as `simulation` is none of them. */
function narrowed(word) {
  const isOurs = isFilter(word) && readdirSync(join(root, tests)).some((name) => name.startsWith(word))
  return isOurs ? join(tests, word) : word
}
