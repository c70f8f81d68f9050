/** Bundles TypeScript of this project for Node with rolldown. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Packages that become part of dist: everything that is JavaScript. They are development dependencies. */
export const BUNDLED = [
  '@bufbuild/protobuf',
  '@zxcvbn-ts/language-common',
  'bcryptjs',
  'commander',
  'jose',
  'mysql2',
  'pino',
  'smol-toml',
  'yaml',
]

/** Libraries of our own, which become part of dist, too: they have the licence of this project. */
const LIBRARIES = ['@waypost/etcd-client', '@waypost/http2']

/** Threads and processes of the store, for programs other than main that use it. */
export const STORE_ENTRIES = { worker: 'src/store/embedded/worker/worker.ts' }

/**
 * Bundles these entries (names and source files) into a directory and removes whatever else is in it. Resolves with the directories of the packages
 * inside. Rejects where the code imports a package that is neither bundled nor a dependency.
 */
export async function bundle(entries, directory) {
  const { build } = await import('rolldown')
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  // Node keeps the text of what it has loaded: a fifth of it would be docstrings.
  const comments = { jsdoc: false }
  const output = { dir: directory, format: 'esm', sourcemap: true, chunkFileNames: '[name].js', comments }
  const built = await build({
    cwd: root,
    input: entries,
    platform: 'node',
    external: Object.keys(dependencies).map((name) => new RegExp(`^${name}(/|$)`)),
    output,
    plugins: [onlyPackages([...BUNDLED, ...LIBRARIES, ...Object.keys(dependencies)])],
    // On a busy machine the build would fail, because it warns about time too.
    checks: { bundlerTimings: false },
    onLog: (level, log, handle) => handle(level === 'warn' ? 'error' : level, log),
  })
  writeAsLatin(directory, built.output)
  removeOthers(
    directory,
    built.output.map(({ fileName }) => fileName),
  )
  const modules = built.output.flatMap(({ moduleIds }) => moduleIds ?? [])
  return [...new Set(modules.flatMap(packageOf))].sort()
}

/** Bundles these source files (by names), and resolves with their modules by the same names. */
export async function loaded(sources) {
  const directory = join(root, '.cache', `loaded-${process.pid}`)
  await bundle(sources, directory)
  const modules = Object.keys(sources).map(async (name) => {
    const module = await import(pathToFileURL(join(directory, `${name}.js`)).href)
    return [name, module]
  })
  const found = Object.fromEntries(await Promise.all(modules))
  rmSync(directory, { recursive: true })
  return found
}

/** Fails the build if code of this project imports another package: its licence and its place in the bill would be missing. */
function onlyPackages(allowed) {
  return {
    name: 'only-packages',
    resolveId(source, importer = '') {
      const [name = ''] = /^(?:@[^/]+\/)?[^/]+/.exec(source) ?? []
      const isPackage = !/^(\.|node:|\/|[A-Za-z]:)/.test(source) && source !== importer
      if (!isPackage || importer === '' || importer.includes('node_modules') || allowed.includes(name)) return
      throw new Error(
        `${importer} imports ${name}: add it to BUNDLED in scripts/bundle.js, or to the dependencies`,
      )
    },
  }
}

/**
 * Writes characters beyond Latin-1 as escapes. Node keeps the text of every file that it has loaded, with two bytes for each
 * character if one character needs two. Lines stay as they are, and so do the source maps. A plugin cannot do it: rolldown prints
 * texts without escapes after all plugins.
 */
function writeAsLatin(directory, output) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  for (const { fileName, code = '' } of output) {
    const latin = code.replaceAll(/[^\0-\xff]/g, escaped)
    if (latin !== code) writeFileSync(join(directory, fileName), latin)
  }
}

/** The console has a directory of its own there (bundle-console.js). */
function removeOthers(directory, fileNames) {
  for (const name of readdirSync(directory))
    if (!fileNames.includes(name) && name !== 'console') rmSync(join(directory, name), { recursive: true })
}

/** The directory of the package that a module belongs to; none for modules of this project. */
export function packageOf(module) {
  const found = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module.replaceAll('\\', '/'))
  return found === null ? [] : [found[1]]
}

/** The licences of packages, each with its name and version. */
export function licences(packages) {
  const parts = packages.map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
    const file = readdirSync(directory).find((one) => /^licen[cs]e/i.test(one))
    const text =
      file === undefined ? `License: ${license}` : readFileSync(join(directory, file), 'utf8').trim()
    return `${name} ${version}\n\n${text}\n`
  })
  return `Parts of these packages are in the files beside this one.\n\n${parts.join(`\n${'-'.repeat(80)}\n\n`)}`
}
