import { readdirSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { describe, expect, test } from 'vitest'

/** What the files of a folder may import besides that folder itself. */
interface Allowed {
  /** Folders of src. */
  readonly layers?: readonly string[]
  readonly packages?: readonly string[]
  /** Modules of Node. */
  readonly node?: boolean
}

/** What everything that answers HTTP shares. It imports no dialect. */
const HTTP = [
  'core/*',
  'operations/*',
  'protocols/parameters',
  'protocols/refusals',
  'protocols/http/routing',
  'protocols/http/errors',
]

/** What everything that answers connected clients shares. */
const GRPC = [
  'core/*',
  'operations/*',
  'protocols/parameters',
  'protocols/refusals',
  'protocols/sockets',
  'protocols/grpc/wire',
  'protocols/grpc/connections',
]

/** What changes and records are made of, and what a decision about them reads. */
const DECISIONS = [
  'core',
  'core/text',
  'core/records',
  'core/switches',
  'core/config/state',
  'core/naming/state',
  'core/decisions',
]

/**
 * The rooms of core, from the bottom up: a room imports only from rooms in earlier rows. Tests of core may import all of it.
 */
const CORE_ROOMS: Readonly<Record<string, Allowed>> = {
  core: {},
  'core/text': {},
  'core/work': { layers: ['core'] },
  'core/records': {},
  'core/switches': { layers: ['core', 'core/text', 'core/records'] },
  'core/config/state': { layers: ['core', 'core/text', 'core/records'] },
  'core/naming/state': { layers: ['core', 'core/text', 'core/records', 'core/switches'] },
  'core/decisions': { layers: ['core/records', 'core/switches', 'core/config/state', 'core/naming/state'] },
  'core/namespaces': { layers: DECISIONS },
  'core/access': { layers: [...DECISIONS, 'core/namespaces'] },
  'core/operator': { layers: DECISIONS },
  'core/audit': { layers: [...DECISIONS, 'core/access'] },
  'core/cluster/members': { layers: DECISIONS },
  'core/config/commands': { layers: DECISIONS },
  'core/naming/liveness': { layers: [...DECISIONS, 'core/work'] },
  'core/naming/timeline': { layers: DECISIONS },
  'core/naming/commands': { layers: [...DECISIONS, 'core/naming/liveness', 'core/naming/timeline'] },
  'core/engine': {
    layers: [
      ...DECISIONS,
      'core/work',
      'core/namespaces',
      'core/access',
      'core/audit',
      'core/cluster/members',
      'core/naming/liveness',
      'core/naming/commands',
    ],
  },
  'core/clients': { layers: ['core/config/state', 'core/naming/state', 'core/naming/timeline'] },
  'core/naming/connections': {
    layers: [...DECISIONS, 'core/work', 'core/naming/liveness', 'core/naming/commands', 'core/engine'],
  },
  'core/cluster/judging': {
    layers: [
      ...DECISIONS,
      'core/cluster/members',
      'core/naming/liveness',
      'core/naming/commands',
      'core/engine',
      'core/naming/connections',
    ],
  },
  'core/live': { layers: [...DECISIONS, 'core/namespaces', 'core/access', 'core/cluster/members'] },
}

const OPERATION_ROOMS: Readonly<Record<string, Allowed>> = {
  operations: { layers: ['core/*'] },
  'operations/config': { layers: ['core/*', 'operations'], node: true },
  'operations/naming': { layers: ['core/*', 'operations', 'operations/config'] },
  'operations/access': { layers: ['core/*', 'sign-in', 'operations', 'operations/naming'], node: true },
  'operations/server': { layers: ['core/*', 'operations', 'operations/config'], node: true },
  'operations/import': {
    layers: ['core/*', 'sign-in', 'operations', 'operations/access', 'operations/server'],
    node: true,
  },
  'operations/console': {
    layers: ['core/*', 'operations', 'operations/config', 'operations/naming', 'operations/server'],
    node: true,
  },
  'operations/operations.ts': { layers: ['operations/*'] },
}

/** The longest prefix counts; `core/*` is core with its rooms. Files directly in src are their own layer: `main.ts`. */
const LAYERS: Readonly<Record<string, Allowed>> = {
  ...CORE_ROOMS,
  ...OPERATION_ROOMS,
  audit: { layers: ['core/*'], node: true },
  archive: { layers: ['core/*'], packages: ['yaml'], node: true },
  'sign-in': { layers: ['core/*'], packages: ['jose', 'bcryptjs', '@zxcvbn-ts/language-common'], node: true },
  'protocols/answers': { layers: ['core/*'], node: true },
  'protocols/udp': { layers: ['core/*'], node: true },
  'protocols/parameters': { layers: ['core/*'], node: true },
  'protocols/refusals': { layers: ['core/*'] },
  'protocols/http': { layers: [...HTTP, 'protocols/http/nacos', 'protocols/http/enveloped'], node: true },
  'protocols/http/routing': { layers: ['core/*', 'operations/*', 'protocols/parameters'], node: true },
  'protocols/http/errors': {
    layers: ['core/*', 'protocols/parameters', 'protocols/refusals', 'protocols/http/routing'],
    node: true,
  },
  'protocols/sockets': { layers: ['core/*'], node: true },
  'protocols/http/transport': {
    layers: [
      'core/*',
      'sign-in',
      'protocols/sockets',
      'protocols/parameters',
      'protocols/http/routing',
      'protocols/http/errors',
    ],
    node: true,
  },
  'protocols/http/documents': { layers: HTTP, node: true },
  'protocols/http/page': { layers: HTTP, node: true },
  'protocols/http/endpoints': { layers: [...HTTP, 'protocols/answers', 'archive', 'move'], node: true },
  'protocols/http/svc': { layers: [...HTTP, 'protocols/http/endpoints'], node: true },
  'protocols/http/enveloped': {
    layers: [...HTTP, 'protocols/http/endpoints', 'protocols/answers'],
    node: true,
  },
  'protocols/http/nacos': { layers: [...HTTP, 'protocols/http/endpoints', 'archive'], node: true },
  'protocols/grpc/wire': {
    layers: ['core/*', 'protocols/parameters'],
    packages: ['@bufbuild/protobuf'],
    node: true,
  },
  'protocols/grpc/connections': {
    layers: ['core/*', 'protocols/sockets', 'protocols/grpc/wire'],
    node: true,
  },
  'protocols/grpc/requests': { layers: GRPC, node: true },
  'protocols/grpc/transport': {
    layers: [...GRPC, 'http2'],
    node: true,
  },
  'protocols/grpc/fuzzy': { layers: [...GRPC, 'protocols/grpc/requests'], node: true },
  'protocols/grpc/config': {
    layers: [...GRPC, 'protocols/grpc/requests', 'protocols/grpc/fuzzy'],
    node: true,
  },
  'protocols/grpc/naming': {
    layers: [...GRPC, 'protocols/grpc/requests', 'protocols/grpc/fuzzy', 'protocols/answers'],
    node: true,
  },
  store: { layers: ['core/*'], node: true },
  'store/embedded': { layers: ['core/*', 'store'], packages: ['libsql'], node: true },
  'store/etcd': { layers: ['core/*', 'store', 'store/etcd/client'], node: true },
  'store/etcd/client': { packages: ['@bufbuild/protobuf'], node: true },
  cluster: { layers: ['core/*'], node: true },
  feed: { layers: ['core/*'], node: true },
  subscribers: { layers: ['core/*', 'feed'], node: true },
  probes: { layers: ['core/*'], packages: ['mysql2'], node: true },
  jobs: { layers: ['core/*'], node: true },
  machine: { node: true },
  http2: {},
  metrics: { layers: ['core/*', 'feed'], node: true },
  settings: { node: true },
  move: { layers: ['core/records'] },
  command: {
    layers: ['settings', 'archive', 'store', 'command/move'],
    packages: ['commander', 'yaml'],
    node: true,
  },
  'command/move': {
    layers: ['command', 'move', 'core/records', 'core/switches', 'core/config/state'],
    packages: ['commander', 'mysql2'],
    node: true,
  },
  'log.ts': { layers: ['settings'], packages: ['pino'], node: true },
  'server-address.ts': { layers: ['settings'], node: true },
  'observability.ts': { layers: ['*'], node: true },
  'routes.ts': { layers: ['*'], node: true },
  'api-document.ts': { layers: ['*'], node: true },
  server: { layers: ['*'], packages: ['pino'], node: true },
  'start-server.ts': { layers: ['*'], node: true },
  'server.ts': { layers: ['*'], packages: ['pino'], node: true },
  'main.ts': { layers: ['*'], packages: ['pino'], node: true },
}

const TEST = /\.test(-support)?\.ts$/

/** What a test beside the code may import besides. */
const FOR_TESTS = ['vitest', 'fast-check']

const src = fileURLToPath(new URL('../src', import.meta.url))
const imports = new Map(filesIn(src).map((file) => [file, importsIn(src, file)]))
const files = [...imports.keys()]

describe('each file imports only what its layer may', () => {
  test.each(files)('%s', (file) => {
    expect(layerOf(file), `no layer is named for ${file}: add it to the table of this test`).toBeDefined()
    expect(imports.get(file)!.filter((name) => !isAllowed(file, name))).toEqual([])
  })
})

test('a room of core may import only from earlier rows', () => {
  const rooms = Object.keys(CORE_ROOMS)
  const upwards = rooms.flatMap((room, row) =>
    (CORE_ROOMS[room]!.layers ?? []).filter((other) => !rooms.slice(0, row).includes(other)),
  )
  expect(upwards).toEqual([])
})

test.each(['src', 'console/src', 'test', 'bench'])(
  'no files of %s import each other in a circle, not even for their types',
  (name) => {
    const folder = fileURLToPath(new URL(`../${name}`, import.meta.url))
    const importsOfFiles = new Map(filesIn(folder).map((file) => [file, importsIn(folder, file)]))
    expect(filesInCircles(targetsOf(folder, importsOfFiles))).toEqual([])
  },
)

/** Folders whose own folders are floors: each imports only from lower ones. The files beside them are the entry. */
const HOUSES = ['store/etcd', 'store/embedded', 'server']

test.each(HOUSES)('the folders of %s do not import each other in a circle', (house) => {
  const targets = new Map<string, string[]>()
  for (const [file, all] of targetsOf(src, imports)) {
    if (TEST.test(file) || !file.startsWith(`${house}/`)) continue
    const inHouse = all.filter((target) => target.startsWith(`${house}/`)).map(folderOf)
    const others = inHouse.filter((folder) => folder !== folderOf(file))
    targets.set(folderOf(file), [...(targets.get(folderOf(file)) ?? []), ...others])
  }
  expect(targets.size).toBeGreaterThan(5)
  expect(filesInCircles(targets)).toEqual([])
})

test('the files of a circle are found, and not those that import from it or that it imports from', () => {
  const circle = { first: ['one'], one: ['two', 'last'], two: ['three'], three: ['one'], last: [] }
  expect(filesInCircles(new Map(Object.entries(circle)))).toEqual(['one', 'two', 'three'])
})

/** What only operations may use. The others have a reason: answers are caches of the state, the gate reads switches. */
const BEHIND_OPERATIONS = [
  'core/engine/engine.ts',
  'core/engine/sole-engine.ts',
  'core/engine/shared-engine.ts',
  'core/engine/state.ts',
  'core/engine/ports.ts',
]
const EXCEPTIONS = ['protocols/answers/instance-list.ts', 'protocols/http/endpoints/server-gate.ts']

test('no protocol passes by the operations, and so by their authorisation', () => {
  const protocols = files.filter((file) => file.startsWith('protocols/') && !TEST.test(file))
  const past = protocols.filter((file) =>
    imports.get(file)!.some((name) => BEHIND_OPERATIONS.includes(targetOf(src, file, name))),
  )
  expect(past).toEqual(EXCEPTIONS)
})

test('every form of import is seen', () => {
  const code = `import a from 'one'; import type { B } from './two.ts'; export { c } from 'three'; export * from 'four'
    import 'five'; const d = await import('six'); type E = import('seven').E; const f = await import(d); export type { G } from 'eight'`
  expect(importsOf('x.ts', code).sort()).toEqual(
    ['(computed)', './two.ts', 'eight', 'five', 'four', 'one', 'seven', 'six', 'three'].sort(),
  )
})

test.each([
  ['core/engine/state.ts', '../naming/state/service.ts', true],
  ['core/engine/state.ts', '../../settings/settings.ts', false],
  ['core/engine/state.ts', 'node:fs', false],
  ['core/engine/state.ts', 'pino', false],
  ['core/engine/state.test.ts', 'fast-check', true],
  ['core/engine/state.test-support.ts', 'fast-check', true],
  ['store/embedded/database/connection.ts', 'libsql', true],
  ['protocols/http/routing/route.ts', '../../../store/embedded/store.ts', false],
  ['store/embedded/store.ts', 'libsql', true],
  ['store/other.ts', 'libsql', false],
  ['store/etcd/client/methods.ts', '@bufbuild/protobuf', true],
  ['store/etcd/client/calls.ts', '../../../core/ports.ts', false],
  ['store/etcd/keys/keys.ts', '@bufbuild/protobuf', false],
  ['subscribers/push-outlet.ts', '../feed/feed.ts', true],
  ['feed/feed.ts', '../subscribers/push-outlet.ts', false],
  ['probes/http.ts', 'http', false],
  ['settings/settings.ts', '../core/state.ts', false],
  ['server.ts', './store/embedded/store.ts', true],
  ['core/engine/state.ts', '../../../test/support/waypost.ts', false],
  ['core/engine/state.ts', '(computed)', false],
])('the table judges that %s importing %s is %s', (file, name, allowed) =>
  expect(isAllowed(file, name)).toBe(allowed),
)

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.tsx?$/.test(file))
    .map((file) => file.replaceAll('\\', '/'))
    .sort()
}

function importsIn(folder: string, file: string): string[] {
  return importsOf(file, readFileSync(join(folder, file), 'utf8'))
}

/** The file that is imported, by its path in the folder. */
function targetOf(folder: string, file: string, name: string): string {
  return relative(folder, join(folder, dirname(file), name)).replaceAll('\\', '/')
}

/** Which files of the folder each of them imports. */
function targetsOf(folder: string, names: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const targets = new Map<string, string[]>()
  for (const [file, all] of names)
    targets.set(
      file,
      all.filter((name) => name.startsWith('.')).map((name) => targetOf(folder, file, name)),
    )
  return targets
}

/** The folder of a file. */
function folderOf(file: string): string {
  return dirname(file).replaceAll('\\', '/')
}

/** The files that import themselves by way of others. */
function filesInCircles(targets: ReadonlyMap<string, readonly string[]>): string[] {
  // Without the files that import none of the others, nothing is left to search where there is no circle.
  let left = [...targets.keys()]
  for (let before = Infinity; left.length < before;) {
    before = left.length
    const there = new Set(left)
    left = left.filter((file) => targets.get(file)!.some((target) => there.has(target)))
  }
  return left.filter((file) => reachedFrom(file, targets).has(file))
}

function reachedFrom(file: string, targets: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const reached = new Set(targets.get(file))
  // A set gives what is added while it is read.
  for (const other of reached) for (const target of targets.get(other) ?? []) reached.add(target)
  return reached
}

function isAllowed(file: string, name: string): boolean {
  const layer = layerOf(file)!
  const { layers = [], packages = [], node = false } = LAYERS[layer]!
  if (name.startsWith('node:')) return node
  if (name.startsWith('.')) {
    const target = layerOf(targetOf(src, file, name))
    if (target === undefined) return false
    if (layer in CORE_ROOMS && TEST.test(file)) return target in CORE_ROOMS
    return target === layer || layers.some((allowed) => covers(allowed, target))
  }
  // Without the prefix a module of Node could be taken for a package.
  if (builtinModules.includes(name)) return false
  const ofTests = TEST.test(file) ? FOR_TESTS : []
  return [...packages, ...ofTests].some((allowed) => name === allowed || name.startsWith(`${allowed}/`))
}

/** Whether a name in the table means this layer: `*` means all, `core/*` means core and its rooms. */
function covers(allowed: string, layer: string): boolean {
  if (allowed === '*') return true
  if (!allowed.endsWith('/*')) return allowed === layer
  const folder = allowed.slice(0, -2)
  return layer === folder || layer.startsWith(`${folder}/`)
}

function layerOf(file: string): string | undefined {
  const fitting = Object.keys(LAYERS).filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return fitting.sort((a, b) => b.length - a.length)[0]
}

/** The names of everything that a file imports, whatever form the import has. */
function importsOf(file: string, code: string): string[] {
  const parsed = parseSync(file, code)
  const { staticImports, staticExports } = parsed.module
  const requests = [...staticImports, ...staticExports.flatMap(({ entries }) => entries)]
  const found = requests.flatMap(({ moduleRequest }) => (moduleRequest ? [moduleRequest.value] : []))
  // The whole tree is large: it is made only for the files that may have what the list of the parser does not.
  if (!/\bimport\s*\(/.test(code)) return found
  const add = ({ source }: { source: { type: string; value?: unknown } }) => {
    found.push(source.type === 'Literal' ? String(source.value) : '(computed)')
  }
  new Visitor({ ImportExpression: add, TSImportType: add }).visit(parsed.program)
  return found
}
