/**
 * Builds etcd for the tests, from its Go module into .cache/etcd: once for each version. Run by itself it prints the file.
 * The Go module proxy is the only source, and go.sum says what it must send.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { holdingLock } from './lock.js'
import { root, run } from './prepare.js'

const sources = join(root, 'scripts', 'etcd-server')
const cache = join(root, '.cache', 'etcd')

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await builtEtcd())

/** The file of the etcd server, built if it is not there yet. Rejects with the output of Go if it cannot be built. */
export async function builtEtcd() {
  const file = join(cache, `etcd-${sourceDigest()}`)
  if (!existsSync(file)) await holdingLock(join(cache, 'build.lock'), () => buildEtcd(file))
  return file
}

async function buildEtcd(file) {
  if (existsSync(file)) return
  mkdirSync(cache, { recursive: true })
  const half = `${file}.half`
  // An older Go fetches the version that go.mod names, also where that is switched off.
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOFLAGS: '-mod=readonly' }
  const args = ['build', '-C', sources, '-trimpath', '-buildvcs=false', '-o', half, '.']
  const { code, output } = await run('go', args, { capture: true, env })
  if (code !== 0) throw new Error(`etcd could not be built:\n${output}`)
  renameSync(half, file)
}

function sourceDigest() {
  const hash = createHash('sha256')
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(sources, name)))
  return hash.digest('hex').slice(0, 16)
}
