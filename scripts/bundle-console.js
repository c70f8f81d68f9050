/**
 * Builds the console with Vite: dist/console has its files, each with what brotli and gzip make of it, and the licences of the
 * packages inside.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { licences, packageOf } from './bundle.js'
import { filesBelow, root } from './prepare.js'

const directory = join(root, 'dist', 'console')

// A run of tests has a mode of its own, which would make another, larger page.
process.env['NODE_ENV'] = 'production'
const { build } = await import('vite')
const built = await build({ configFile: join(root, 'console', 'vite.config.js'), logLevel: 'warn' })
const modules = built.output.flatMap(({ moduleIds }) => moduleIds ?? [])
const packages = [...new Set(modules.flatMap(packageOf))].sort()
writeFileSync(join(directory, 'LICENSES.txt'), licences(packages))
for (const file of filesBelow(directory)) compress(file)

/** A file that does not become smaller stays alone. */
function compress(file) {
  const plain = readFileSync(file)
  const br = brotliCompressSync(plain, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } })
  const gz = gzipSync(plain, { level: 9 })
  if (br.length < plain.length) writeFileSync(`${file}.br`, br)
  if (gz.length < plain.length) writeFileSync(`${file}.gz`, gz)
}
