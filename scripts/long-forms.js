/**
 * `npm run test:faults` and `npm run test:fuzz`: the long forms of the tests in test/faults and test/fuzz, for hours. A word after
 * `--` selects files: `npm run test:faults -- kills`, and `simulation` those of test/simulation. `--minutes 10` is the time of all
 * files together, each with the same share; `--seed 42` repeats what another run has done. The results of the tests of faults
 * are kept in `.cache/fault-results.txt` (docs/reliability.md).
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { endWithNpm, root, run } from './prepare.js'

/** Before the first input a file starts servers, and after the last one it looks whether they are well, s. */
const BESIDE_S = 8
const LEAST_S = 5

/** `most`: the seconds of a file without `--minutes`. A file of faults ends by itself, when it has done everything. */
const FORMS = {
  faults: { files: /\.fault\.test\.ts$/, seed: 'FAULT_SEED', seconds: 'FAULT_SECONDS', most: Infinity },
  fuzz: { files: /^test\/fuzz\/.*\.test\.ts$/, seed: 'FUZZ_SEED', seconds: 'FUZZ_SECONDS', most: 600 },
}
/** The stories of other simulations are few, or have planted faults. */
const SIMULATIONS = /^test\/simulation\/(?:simulation|silence|connections)\.test\.ts$/

endWithNpm()
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { minutes: { type: 'string' }, seed: { type: 'string' } },
})
const [form, ...words] = positionals
const { seed: seedName, seconds: secondsName, most } = FORMS[form]
const files = filesOf(FORMS[form].files)
if (files.length === 0) throw new Error(`No file of ${form} has one of these words: ${words.join(' ')}`)
const seed = values.seed ?? process.env[seedName] ?? String(Math.floor(Math.random() * 2 ** 31))
const seconds =
  values.minutes === undefined ? most : Math.max(LEAST_S, (values.minutes * 60) / files.length - BESIDE_S)
console.log(`Files: ${files.length}. Seed: ${seed}; --seed ${seed} repeats the run.`)
const env = { ...process.env, FAULTS: 'long', [seedName]: seed, [secondsName]: String(seconds) }
// One after the other: each has the machine to itself.
const { code } = await run(
  process.execPath,
  [join(root, 'scripts/test.js'), '--no-file-parallelism', ...files],
  {
    env,
  },
)
process.exitCode = code

/** The files of the form that have one of the words in their names. */
function filesOf(pattern) {
  const all = readdirSync(join(root, 'test'), { recursive: true }).map((name) => `test/${name}`)
  const hasWord = (name) => words.length === 0 || words.some((word) => name.includes(word))
  const isSimulated = (name) => words.includes('simulation') && SIMULATIONS.test(name)
  return all.filter((name) => (pattern.test(name) && hasWord(name)) || isSimulated(name)).sort()
}
