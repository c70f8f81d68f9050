/**
 * `npm run test:fuzz`: the long form of test/fuzz, a million mutated requests and 500 generated ones for each operation.
 * FUZZ_REQUESTS, FUZZ_RUNS and FUZZ_SEED in the environment go first; a run prints its seed. FUZZ_SECONDS ends those of gRPC and of probes.
 * FUZZ_FRAME_SECONDS is how long frames of HTTP/2 are sent, FUZZ_STATES how many conversations the model of stream states judges.
 */
import { join } from 'node:path'
import { endWithNpm, prepare, root, run } from './prepare.js'

endWithNpm()
await prepare()
const env = {
  FUZZ_REQUESTS: '1000000',
  FUZZ_RUNS: '500',
  FUZZ_FRAME_SECONDS: '1800',
  FUZZ_STATES: '1000000',
  ...process.env,
}
const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
const { code } = await run(process.execPath, [vitest, 'run', 'test/fuzz', ...process.argv.slice(2)], { env })
process.exitCode = code
