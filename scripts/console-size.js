/** Fails where the console has become larger than its budget: what a browser loads first, and what an editor adds (gzip). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build, root } from './prepare.js'

const KB = 1000
const FIRST_VIEW_KB = 90
const EDITOR_KB = 160
/** The worker that checks texts; readers of formats are loaded on demand, and only there. */
const CHECKS_KB = 10
/** Each reader of a format. */
const READERS_KB = { toml: 8, xml: 5, yaml: 35 }

await build()
const directory = join(root, 'dist', 'console')
const assets = readdirSync(join(directory, 'assets')).filter((name) => /\.(js|css|svg)$/.test(name))
const page = readFileSync(join(directory, 'index.html'), 'utf8')
const first = withImports(assets.filter((name) => page.includes(name)))
const editor = withImports(assets.filter((name) => /^editor-.*\.js$/.test(name))).filter(
  (name) => !first.includes(name),
)

const checks = withImports(assets.filter((name) => /^check-worker-.*\.js$/.test(name)))

report('first view', [...first.map((name) => join('assets', name)), 'index.html'], FIRST_VIEW_KB)
report(
  'editor',
  editor.map((name) => join('assets', name)),
  EDITOR_KB,
)
report(
  'checks',
  checks.map((name) => join('assets', name)),
  CHECKS_KB,
)
for (const [format, mostKb] of Object.entries(READERS_KB))
  report(
    `reader of ${format}`,
    assets.filter((name) => name.startsWith(`${format}-`)).map((name) => join('assets', name)),
    mostKb,
  )

function report(name, files, mostKb) {
  const bytes = files.reduce(
    (sum, file) => sum + gzipSync(readFileSync(join(directory, file)), { level: 9 }).length,
    0,
  )
  const isTooLarge = files.length === 0 || bytes > mostKb * KB
  if (isTooLarge) process.exitCode = 1
  console.log(
    `${name}: ${(bytes / KB).toFixed(1)} KB gzip of ${mostKb}${isTooLarge ? ', TOO MUCH' : ''} (${files.join(', ')})`,
  )
}

/** These files and what they import before they run; what is imported on demand is not counted. */
function withImports(names) {
  const found = new Set(names)
  // A loop over a Set also visits values that are added during the loop.
  for (const name of found) {
    const code = readFileSync(join(directory, 'assets', name), 'utf8')
    for (const [, imported] of code.matchAll(/(?:from|import)\s*["']\.\/([^"']+)["']/g)) found.add(imported)
  }
  return [...found]
}
