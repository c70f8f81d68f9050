/** Packages do not depend on the moment and the place of their build, and those for arm64 have its programs. */
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import { needRootAndTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { machineOf, packed, type Packing, runLong } from './packed.ts'

const tools = needRootAndTool('xz', 'tar', 'dpkg-deb', 'mmdebstrap', 'umoci')
const LIMIT_MS = 600_000

beforeEach(({ skip }) => skip(tools.skip, tools.reason))

async function digestOf(script: Packing, arch: string): Promise<string> {
  const file = await packed(script, { arch, out: temporaryDirectory('again-') })
  return createHash('sha256').update(readFileSync(file)).digest('hex')
}

test.each([
  ['archive', 'x64'],
  ['deb', 'arm64'],
  ['image', process.arch],
] as const)(
  'the %s for %s is the same when it is built again',
  async (script, arch) => {
    expect(await digestOf(script, arch)).toBe(await digestOf(script, arch))
  },
  LIMIT_MS,
)

test(
  'the archive for arm64 has programs for arm64',
  async () => {
    const directory = temporaryDirectory('arm64-')
    const home = join(directory, 'waypost')
    mkdirSync(home)
    const file = await packed('archive', { arch: 'arm64', out: directory })
    await runLong('tar', '-xJf', file, '-C', home, '--strip-components=1')
    expect(machineOf(join(home, 'lib/waypost/node'))).toBe('arm64')
    const natives = join(home, 'lib/waypost/app/node_modules/@libsql')
    expect(readdirSync(natives)).toEqual(['linux-arm64-gnu'])
    expect(machineOf(join(natives, 'linux-arm64-gnu/index.node'))).toBe('arm64')
  },
  LIMIT_MS,
)
