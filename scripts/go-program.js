/**
 * Builds programs that tests need from Go modules into .cache: once for each state of their sources. The Go module proxy is
 * the only source of what they depend on, and go.sum says what it must send.
 */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { holdingLock } from './lock.js'
import { root, run } from './prepare.js'

const SAID_EVERY_MS = 10_000

/**
 * The file of the program whose main.go, go.mod and go.sum are in a directory. `words`: the end of the command of `go build`, for
 * another package than the one there. Rejects with the output of Go.
 */
export async function builtGoProgram(name, sources, words = ['.']) {
  const cache = join(root, '.cache', name)
  const file = join(cache, `${name}-${digestOf(sources, words)}`)
  if (!existsSync(file))
    await holdingLock(join(cache, 'build.lock'), () => build({ name, sources, words, cache, file }))
  return file
}

async function build({ name, sources, words, cache, file }) {
  if (existsSync(file)) return
  console.log(`Building ${name} with Go, once: some minutes…`)
  mkdirSync(cache, { recursive: true })
  const half = `${file}.half`
  // An older Go fetches the version that go.mod names, also where that is switched off.
  const env = { ...process.env, CGO_ENABLED: '0', GOTOOLCHAIN: 'auto', GOFLAGS: '-mod=readonly' }
  const args = ['build', '-C', sources, '-trimpath', '-buildvcs=false', '-o', half, ...words]
  const beganMs = Date.now()
  const saying = setInterval(() => {
    console.error(`  … ${name}: ${Math.round((Date.now() - beganMs) / 1_000)} s`)
  }, SAID_EVERY_MS)
  const { code, output } = await run('go', args, { capture: true, env }).finally(() => clearInterval(saying))
  if (code !== 0) throw new Error(`${name} could not be built:\n${output}`)
  renameSync(half, file)
}

function digestOf(sources, words) {
  const hash = createHash('sha256')
  if (words.length > 1) hash.update(words.join('\n'))
  for (const name of ['go.mod', 'go.sum', 'main.go']) hash.update(readFileSync(join(sources, name)))
  return hash.digest('hex').slice(0, 16)
}
