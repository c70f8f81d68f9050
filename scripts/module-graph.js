/** The modules of the project, and what they import and export. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'
import { root } from './prepare.js'

/** The folders of libraries of our own: each is a package of npm, and knows nothing of this product. */
export const LIBRARIES = ['packages/etcd-client/src', 'packages/http2/src']
const FOLDERS = ['src', 'console/src', ...LIBRARIES, 'test', 'bench', 'scripts']
/** Programs of the tests in other languages, and with packages of their own. */
const OTHERS = /^test\/clients\/(?:npm|java|go|python)\//

/** All modules, by their paths: `src/main/main.ts`. */
export function modulesOfProject() {
  const files = FOLDERS.flatMap((folder) => below(folder))
  files.push('vitest.config.ts', 'console/vite.config.js')
  return new Map(files.sort().map((file) => [file, moduleOf(file, readFileSync(join(root, file), 'utf8'))]))
}

function below(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((file) => /\.(?:tsx?|m?js)$/.test(file) && !file.endsWith('.d.ts') && !OTHERS.test(file))
}

/**
 * A module: its code, all names that it imports from (`imports`), the parts that it imports (`uses`: the name it imports from, and
 * the part; without a part, any), and the values that it exports.
 */
export function moduleOf(file, code) {
  const parsed = parseSync(file, code)
  const { staticImports, staticExports } = parsed.module
  const exported = staticExports.flatMap(({ entries }) => entries)
  const uses = [
    ...staticImports.flatMap(({ moduleRequest, entries }) =>
      entries.map(({ importName }) => ({ from: moduleRequest.value, part: partOf(importName) })),
    ),
    ...exported.flatMap(({ moduleRequest, importName }) =>
      moduleRequest ? [{ from: moduleRequest.value, part: partOf(importName) }] : [],
    ),
    ...dynamicImports(parsed, code).map((from) => ({ from })),
  ]
  const bare = staticImports.map(({ moduleRequest }) => moduleRequest.value)
  const values = exported.filter(({ isType }) => !isType).map(({ exportName }) => partOf(exportName))
  const imports = [...new Set([...bare, ...uses.map(({ from }) => from)])]
  return { code, imports, uses, exports: values.filter((name) => name !== undefined) }
}

/** The name of what is imported or exported; undefined for all. */
function partOf({ kind, name }) {
  return kind === 'Default' ? 'default' : (name ?? undefined)
}

/**
 * The imports that happen while the code runs, and by types within others. The whole tree is large: it is made only where it may
 * have some.
 */
function dynamicImports(parsed, code) {
  const found = []
  if (!/\bimport\s*\(/.test(code)) return found
  const add = ({ source }) => found.push(source.type === 'Literal' ? String(source.value) : '(computed)')
  new Visitor({ ImportExpression: add, TSImportType: add }).visit(parsed.program)
  return found
}

/** The file that is imported, by its path in the folder that `file` is named in. */
export function targetOf(file, name) {
  const [, library, module] = /^@waypost\/([^/]+)\/(.+)/.exec(name) ?? []
  return library ? `packages/${library}/src/${module}.ts` : posix.join(dirname(file), name)
}
