/** `npm run check`: everything that can be said about the code without running all tests. Fails where one check does. */
import { join } from 'node:path'
import { ensureInstalled, root, run } from './prepare.js'

const CHECKS = [
  { name: 'format', bin: 'oxfmt/bin/oxfmt', args: ['--check', '.'] },
  // One reading of all files for both, also for those of the console: tsc beside it took a quarter of the time of all checks.
  {
    name: 'lint and types',
    bin: 'oxlint/bin/oxlint',
    args: ['--type-aware', '--type-check', '--deny-warnings'],
  },
  { name: 'size of the console', script: 'scripts/console-size.js', args: [] },
  { name: 'layers and unused code', script: 'scripts/modules.js', args: [] },
  { name: 'docs', script: 'scripts/docs.js', args: ['--check'] },
  { name: 'words', script: 'scripts/words.js', args: [], isShown: true },
]

// The type checker is a Go program: it looks for garbage only where memory becomes short. That saves a fifth of its time.
// `checkers` in tsconfig.json saves a quarter: several checkers would each find out the same types.
const env = { ...process.env, GOGC: 'off', GOMEMLIMIT: '3GiB' }

await ensureInstalled()
const results = await Promise.all(CHECKS.map(check))
const failed = results.filter((ok) => !ok).length
console.log(`${results.length - failed} checks passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

async function check({ name, bin, script, args, isShown = false }) {
  const began = performance.now()
  const file = bin ? join(root, 'node_modules', bin) : join(root, script)
  const { code, output } = await run(process.execPath, [file, ...args], { capture: true, env })
  const seconds = ((performance.now() - began) / 1000).toFixed(1)
  console.log(`${code === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)`)
  if (code !== 0 || isShown) console.log(output.trimEnd().replaceAll(/^/gm, '    '))
  return code === 0
}
