/**
 * `npm run test:nightly`: the tests that are too long for each change, in at most 90 minutes, with a new seed each night. The parts
 * are in scripts/runs/night-parts.js: `npm run test:nightly -- PART` runs one part, `--seed N` repeats a seed, and `--list`
 * prints the names and the limits.
 */
import { endWithNpm } from './prepare.js'
import { NIGHT_PARTS, partsOfNight } from './runs/night-parts.js'
import { runNamed } from './runs/parts.js'

endWithNpm()
process.exitCode = await runNamed(NIGHT_PARTS, process.argv.slice(2), {
  usual: partsOfNight(Date.now()),
  env: { CI: 'true', NIGHTLY: 'true' },
})
