/** `.ci/run`: all parts of scripts/runs/ci-parts.js, or the parts that the arguments name. `--seed N` repeats a seed, `--list` prints the names. */
import { CI_PARTS } from './runs/ci-parts.js'
import { runNamed } from './runs/parts.js'

process.exitCode = await runNamed(CI_PARTS, process.argv.slice(2), { env: { CI: 'true', SAMPLED: 'true' } })
