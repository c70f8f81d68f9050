import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FIXTURE = fileURLToPath(new URL('../fixtures/waypost-before-versions.tgz', import.meta.url))
/** Below the root, so that the package finds the native module that npm would install with it. */
const UNPACKED = fileURLToPath(new URL('../../.cache/older-packages', import.meta.url))

/** Unpacks the package of before there were versions (test/fixtures/README.md). Returns its program. */
export function olderPackage(): string {
  const digest = createHash('sha256').update(readFileSync(FIXTURE)).digest('hex').slice(0, 16)
  const directory = join(UNPACKED, digest)
  const main = join(directory, 'package', 'dist', 'main.js')
  if (!existsSync(main)) {
    mkdirSync(directory, { recursive: true })
    execFileSync('tar', ['xzf', FIXTURE, '-C', directory])
  }
  return main
}
