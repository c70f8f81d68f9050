/** Finds unused files, exported values and packages, and wrong imports of JavaScript. Types are left to the eye. */
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { targetOf as pathOf } from './module-graph.js'
import { root } from './prepare.js'

/** The files that are started by a name that no file has as it is. */
const STARTED =
  /^(?:scripts\/(?:packaging\/debian-root|[^/]+)\.js|bench\/.*\.js|bench\/(?:main|gate|best|floor|load-client|store-floor|plain-sqlite|profile-probe)\.ts|.*\.test\.ts|src\/main\/main\.ts|console\/src\/main\.tsx|.*\.config\.[jt]s)$/
const GENERATED = /\/generated\//
/** Packages that no file of ours names: others find them. */
const FOUND_BY_OTHERS = ['oxlint-tsgolint', '@types/node']

/** The faults of these modules of the project. */
export function unusedFaults(modules) {
  const started = startedFiles(modules)
  return [
    ...unusedFiles(modules, started),
    ...unusedExports(modules, started),
    ...packageFaults(modules),
    ...missingExports(modules),
  ]
}

/** Files that are started, and not imported: files that another file names, such as `new URL('./worker.ts', …)`, and tests. */
function startedFiles(modules) {
  const names = new Set()
  for (const { code } of modules.values())
    for (const [, name] of code.matchAll(/['"`](?:[\w@./$-]*\/)?([\w.-]+\.(?:tsx?|m?js))['"`]/g))
      names.add(name)
  const imported = new Set(
    [...modules].flatMap(([file, { imports }]) => imports.map((name) => targetOf(file, name))),
  )
  const isNamed = (file) => names.has(file.slice(file.lastIndexOf('/') + 1)) && !imported.has(file)
  return new Set([...modules.keys()].filter((file) => STARTED.test(file) || isNamed(file)))
}

function unusedFiles(modules, started) {
  const used = new Set(started)
  // A set gives what is added while it is read.
  for (const file of used)
    for (const name of modules.get(file).imports)
      if (modules.has(targetOf(file, name))) used.add(targetOf(file, name))
  return [...modules.keys()].filter((file) => !used.has(file)).map((file) => `${file}: nothing uses it`)
}

function unusedExports(modules, started) {
  const used = new Set()
  for (const [file, { uses }] of modules)
    for (const { from, part = '*' } of uses) used.add(`${targetOf(file, from)} ${part}`)
  const isUsed = (file, name) =>
    started.has(file) || GENERATED.test(file) || used.has(`${file} *`) || used.has(`${file} ${name}`)
  return [...modules].flatMap(([file, { exports }]) =>
    exports.filter((name) => !isUsed(file, name)).map((name) => `${file}: nothing imports ${name}`),
  )
}

/** The names that files of JavaScript import, and their modules do not export. The type checker sees it in all others. */
function missingExports(modules) {
  return [...modules].flatMap(([file, { uses }]) =>
    uses
      .map(({ from, part }) => ({ target: targetOf(file, from), part }))
      .filter(
        ({ target, part }) =>
          file.endsWith('.js') && part && modules.get(target)?.exports.includes(part) === false,
      )
      .map(({ target, part }) => `${file}: ${target} does not export ${part}`),
  )
}

/** Packages that nothing imports or names, and packages that no package.json has. */
function packageFaults(modules) {
  const packages = ['package.json', 'console/package.json', 'packages/etcd-client/package.json'].map((file) =>
    JSON.parse(readFileSync(join(root, file), 'utf8')),
  )
  const known = packages.flatMap(({ dependencies, devDependencies }) =>
    Object.keys({ ...dependencies, ...devDependencies }),
  )
  const imported = new Set([...modules.values()].flatMap(({ imports }) => imports.flatMap(packageOf)))
  const texts = [...modules.values()].map(({ code }) => code).concat(Object.values(packages[0].scripts))
  const isUsed = (name) =>
    imported.has(name) ||
    FOUND_BY_OTHERS.includes(name) ||
    texts.some((text) => text.includes(`'${name}`) || text.startsWith(`${name} `))
  return [
    ...known.filter((name) => !isUsed(name)).map((name) => `package.json: nothing uses ${name}`),
    ...[...imported]
      .filter((name) => !known.includes(name))
      .map((name) => `package.json does not have ${name}`),
  ]
}

/** The file that is imported. Vite takes `./worker.ts?worker`. */
function targetOf(file, name) {
  return pathOf(file, name.replace(/\?.*/, ''))
}

/** The package that a name is of; none for files and for modules of Node. */
function packageOf(name) {
  if (/^(?:[.(#]|node:|virtual:)/.test(name) || builtinModules.includes(name)) return []
  return [/^(?:@[^/]+\/)?[^/]+/.exec(name)[0]]
}
