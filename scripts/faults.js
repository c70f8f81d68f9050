/**
 * `npm run test:faults`: the long form of the tests in test/faults, for hours rather than minutes. Arguments go to vitest:
 * `npm run test:faults -- kills`. The numbers are in `docs/reliability.md`; the figures are kept in `.cache/fault-results.txt`.
 */
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, root, run } from './prepare.js'

endWithNpm()
await ensureInstalled()
const words = process.argv.slice(2)
const filters = words.some((word) => !word.startsWith('-')) ? words : ['test/faults', ...words]
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const env = { ...process.env, FAULTS: 'long' }
// One after the other: each has the machine to itself.
const { code } = await run(process.execPath, [vitest, 'run', '--no-file-parallelism', ...filters], { env })
process.exitCode = code
