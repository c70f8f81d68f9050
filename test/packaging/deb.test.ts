/** `npm run deb`: the package of Debian. debian-root.night.test.ts installs it, built-again.night.test.ts builds it twice. */
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { needTool } from '../support/need-tool.ts'
import { temporaryDirectory } from '../support/waypost.ts'
import { machineOf, packed } from './packed.ts'

const builder = needTool('dpkg-deb')
const LIMIT_MS = 600_000

test(
  'the package says what it is and needs',
  async ({ skip }) => {
    skip(builder.skip, builder.reason)
    const first = await packed('deb', { arch: 'arm64', out: temporaryDirectory('deb-first-') })
    expect(basename(first)).toMatch(/^waypost_\d.*_arm64\.deb$/)
    const field = (name: string): string =>
      execFileSync('dpkg-deb', ['--field', first, name], { encoding: 'utf8' })
    expect(field('Architecture')).toBe('arm64\n')
    expect(field('Depends')).toMatch(/adduser.*libc6.*libstdc\+\+6/)
    const tree = temporaryDirectory('deb-tree-')
    execFileSync('dpkg-deb', ['--extract', first, tree])
    expect(machineOf(join(tree, 'usr/lib/waypost/node'))).toBe('arm64')
    expect(readdirSync(join(tree, 'usr/lib/waypost/app/node_modules/@libsql'))).toEqual(['linux-arm64-gnu'])
  },
  LIMIT_MS,
)
