/**
 * Which files may import which, for `npm run check` (scripts/modules.js). Each folder of src has a row with what its files may import
 * besides the folder itself: `layers` are folders of src, `packages` those of npm, and `node` allows the modules of Node.
 */
import assert from 'node:assert/strict'
import { builtinModules } from 'node:module'
import { dirname } from 'node:path'
import { LIBRARIES, moduleOf, targetOf } from './module-graph.js'

/** The imports for everything that answers HTTP. It imports no dialect. */
const HTTP = [
  'core/*',
  'operations/*',
  'protocols/parameters',
  'protocols/refusals',
  'protocols/http/routing',
  'protocols/http/errors',
]

/** The imports for everything that answers connected clients. */
const GRPC = [
  'core/*',
  'operations/*',
  'protocols/parameters',
  'protocols/refusals',
  'protocols/sockets',
  'protocols/grpc/wire',
  'protocols/grpc/connections',
]

/** The folders with the parts of changes and records, and with the input of a decision. */
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
const CORE_ROOMS = {
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
  'core/naming/liveness': { layers: [...DECISIONS, 'core/work', 'core/cluster/members'] },
  'core/naming/timeline': { layers: DECISIONS },
  'core/naming/commands': { layers: [...DECISIONS, 'core/naming/liveness', 'core/naming/timeline'] },
  'core/memory': {
    layers: [...DECISIONS, 'core/work', 'core/namespaces', 'core/access', 'core/naming/commands'],
  },
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
      'core/memory',
    ],
  },
  'core/clients': { layers: ['core/text', 'core/config/state', 'core/naming/state', 'core/naming/timeline'] },
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

const OPERATION_ROOMS = {
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
    layers: [
      'core/*',
      'formats',
      'operations',
      'operations/config',
      'operations/naming',
      'operations/server',
    ],
    node: true,
  },
  'operations/operations.ts': { layers: ['operations/*'] },
}

/** The longest prefix counts; `core/*` is core with its rooms. */
const LAYERS = {
  ...CORE_ROOMS,
  ...OPERATION_ROOMS,
  audit: { layers: ['core/*'], node: true },
  formats: { packages: ['yaml', 'smol-toml'] },
  archive: { layers: ['core/*'], packages: ['yaml'], node: true },
  'sign-in': { layers: ['core/*'], packages: ['jose', 'bcryptjs', '@zxcvbn-ts/language-common'], node: true },
  'protocols/answers': { layers: ['core/*'], node: true },
  'protocols/udp': { layers: ['core/*'], node: true },
  'protocols/parameters': { layers: ['core/*'], node: true },
  'protocols/refusals': { layers: ['core/*'] },
  'protocols/http': { layers: [...HTTP, 'protocols/http/nacos', 'protocols/http/enveloped'], node: true },
  'protocols/http/routing': {
    layers: ['core/*', 'operations/*', 'protocols/parameters', 'protocols/answers'],
    node: true,
  },
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
  'protocols/http/endpoints': { layers: [...HTTP, 'protocols/answers', 'archive', 'plan'], node: true },
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
    layers: GRPC,
    packages: ['@waypost/http2'],
    node: true,
  },
  'protocols/grpc/fuzzy': { layers: [...GRPC, 'protocols/grpc/requests'], node: true },
  'protocols/grpc/config': {
    layers: [...GRPC, 'protocols/grpc/requests', 'protocols/grpc/fuzzy', 'protocols/answers'],
    node: true,
  },
  'protocols/grpc/naming': {
    layers: [...GRPC, 'protocols/grpc/requests', 'protocols/grpc/fuzzy', 'protocols/answers'],
    node: true,
  },
  store: { layers: ['core/*'], node: true },
  'store/embedded': { layers: ['core/*', 'store'], packages: ['libsql'], node: true },
  'store/etcd': { layers: ['core/*', 'store'], packages: ['@waypost/etcd-client'], node: true },
  cluster: { layers: ['core/*'], node: true },
  feed: { layers: ['core/*'], node: true },
  subscribers: { layers: ['core/*', 'feed'], node: true },
  probes: { layers: ['core/*'], packages: ['mysql2'], node: true },
  jobs: { layers: ['core/*'], node: true },
  machine: { node: true },
  metrics: { layers: ['core/*', 'feed'], node: true },
  settings: { layers: ['core/text'], node: true },
  plan: { layers: ['core/text', 'core/records'] },
  command: {
    layers: ['core/text'],
    packages: ['commander', 'yaml'],
    node: true,
  },
  terminal: {
    layers: ['command', 'core/text', 'core/config/state', 'archive', 'formats'],
    packages: ['commander', 'yaml'],
    node: true,
  },
  move: {
    layers: [
      'command',
      'terminal',
      'plan',
      'core/text',
      'core/records',
      'core/switches',
      'core/config/state',
    ],
    packages: ['commander', 'mysql2'],
    node: true,
  },
  'server/commands': {
    layers: ['command', 'terminal', 'core/text', 'settings', 'store'],
    packages: ['commander'],
    node: true,
  },
  server: { layers: ['*'], packages: ['pino', '@waypost/etcd-client'], node: true },
  main: { layers: ['*'], packages: ['commander', 'pino'], node: true },
}

/** The imports of the libraries besides their own files. */
const LIBRARY_ROWS = {
  'packages/etcd-client/src': { packages: ['@bufbuild/protobuf'], node: true },
  'packages/http2/src': {},
}

const TEST = /\.test(-support)?\.ts$/

/** The further imports that a test beside the code may have. */
const FOR_TESTS = ['vitest', 'fast-check']

/** The faults of these modules of the project: their imports by their paths. */
export function layerFaults(modules) {
  judgeTheJudge()
  const src = foldersOf(modules, 'src')
  return [
    ...[...src].flatMap(([file, imports]) => faultsOf(file, imports)),
    ...upwardRooms().map((room) => `${room}: a room of core may import only from earlier rows`),
    ...LIBRARIES.flatMap((library) => faultsOfLibrary(foldersOf(modules, library), library)),
    ...['src', 'console/src', ...LIBRARIES, 'test', 'bench', 'scripts'].flatMap((folder) =>
      circlesIn(targetsOf(foldersOf(modules, folder)), folder),
    ),
    ...HOUSES.flatMap((house) => circlesIn(foldersOfHouse(src, house), house)),
    ...pastTheOperations(src),
  ]
}

/** The imports of the files of a folder, by their paths there. */
function foldersOf(modules, folder) {
  const inside = [...modules].filter(([file]) => file.startsWith(`${folder}/`))
  return new Map(inside.map(([file, { imports }]) => [file.slice(folder.length + 1), imports]))
}

/** A library imports its own files, and the packages that its row names. */
function faultsOfLibrary(files, library) {
  const { packages = [], node = false } = LIBRARY_ROWS[library]
  const allowed = (file, name) =>
    name.startsWith('.')
      ? !targetOf(file, name).startsWith('..')
      : (node && name.startsWith('node:')) ||
        [...packages, ...(TEST.test(file) ? FOR_TESTS : [])].some((one) => isPartOf(name, one))
  return [...files].flatMap(([file, imports]) =>
    imports.filter((name) => !allowed(file, name)).map((name) => `${library}/${file} may not import ${name}`),
  )
}

function faultsOf(file, imports) {
  if (layerOf(file) === undefined)
    return [`src/${file}: no layer is named for it: add it to scripts/layers.js`]
  const wrong = imports.filter((name) => !isAllowed(file, name))
  return wrong.map((name) => `src/${file} may not import ${name}`)
}

function upwardRooms() {
  const rooms = Object.keys(CORE_ROOMS)
  return rooms.filter((room, row) =>
    (CORE_ROOMS[room].layers ?? []).some((other) => !rooms.slice(0, row).includes(other)),
  )
}

/** Files that import each other in a circle, be it for types alone. */
function circlesIn(targets, folder) {
  return filesInCircles(targets).map((file) => `${folder}/${file} imports itself by way of others`)
}

/** Folders whose own folders are floors: each imports only from lower ones. The files beside them are the entry. */
const HOUSES = ['store/etcd', 'store/embedded', 'server']

function foldersOfHouse(src, house) {
  const targets = new Map()
  for (const [file, all] of targetsOf(src)) {
    if (TEST.test(file) || !file.startsWith(`${house}/`)) continue
    const inHouse = all.filter((target) => target.startsWith(`${house}/`)).map(folderOf)
    const others = inHouse.filter((folder) => folder !== folderOf(file))
    targets.set(folderOf(file), [...(targets.get(folderOf(file)) ?? []), ...others])
  }
  assert(targets.size > 5)
  return targets
}

/** The files that only operations may use. The others have a reason: answers are caches of the state, the gate reads switches. */
const BEHIND_OPERATIONS = [
  'core/engine/sole-engine.ts',
  'core/engine/shared-engine.ts',
  'core/engine/state.ts',
  'core/engine/ports.ts',
]
const EXCEPTIONS = ['protocols/answers/instance-list.ts', 'protocols/http/endpoints/server-gate.ts']

/** Protocols that pass by the operations, and so by their authorisation. */
function pastTheOperations(src) {
  const past = [...targetsOf(src)].filter(
    ([file, targets]) =>
      file.startsWith('protocols/') &&
      !TEST.test(file) &&
      targets.some((one) => BEHIND_OPERATIONS.includes(one)),
  )
  const files = past.map(([file]) => file)
  return [
    ...files
      .filter((file) => !EXCEPTIONS.includes(file))
      .map((file) => `src/${file} passes by the operations`),
    ...EXCEPTIONS.filter((file) => !files.includes(file)).map((file) => `${file} is no exception any more`),
  ]
}

/** Imports whose judgement is known: file, import, whether it is allowed. */
const JUDGED = [
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
  ['store/etcd/open-etcd.ts', '@waypost/etcd-client/calls', true],
  ['store/etcd/keys/keys.ts', '@bufbuild/protobuf', false],
  ['subscribers/push-outlet.ts', '../feed/feed.ts', true],
  ['feed/feed.ts', '../subscribers/push-outlet.ts', false],
  ['probes/http.ts', 'http', false],
  ['settings/settings.ts', '../core/state.ts', false],
  ['server/server.ts', '../store/embedded/store.ts', true],
  ['core/engine/state.ts', '../../../test/support/waypost.ts', false],
  ['core/engine/state.ts', '(computed)', false],
]

/** Throws where the judge does not see or judge what it must. */
function judgeTheJudge() {
  const code = `import a from 'one'; import type { B } from './two.ts'; export { c } from 'three'; export * from 'four'
    import 'five'; const d = await import('six'); type E = import('seven').E; const f = await import(d); export type { G } from 'eight'`
  const seen = ['(computed)', './two.ts', 'eight', 'five', 'four', 'one', 'seven', 'six', 'three']
  assert.deepEqual(moduleOf('x.ts', code).imports.toSorted(), seen)
  for (const [file, name, allowed] of JUDGED)
    assert.equal(isAllowed(file, name), allowed, `${file} importing ${name}`)
  const circle = { first: ['one'], one: ['two', 'last'], two: ['three'], three: ['one'], last: [] }
  assert.deepEqual(filesInCircles(new Map(Object.entries(circle))), ['one', 'two', 'three'])
}

/** The files of the folder that each file imports. */
function targetsOf(imports) {
  const relative = ([file, names]) => [
    file,
    names.filter((name) => name.startsWith('.')).map((name) => targetOf(file, name)),
  ]
  return new Map([...imports].map(relative))
}

/** The folder of a file. */
function folderOf(file) {
  return dirname(file).replaceAll('\\', '/')
}

/** The files that import themselves by way of others. */
function filesInCircles(targets) {
  // Without the files that import none of the others, nothing is left to search where there is no circle.
  let left = [...targets.keys()]
  for (let before = Infinity; left.length < before;) {
    before = left.length
    const there = new Set(left)
    left = left.filter((file) => targets.get(file).some((target) => there.has(target)))
  }
  return left.filter((file) => reachedFrom(file, targets).has(file))
}

function reachedFrom(file, targets) {
  const reached = new Set(targets.get(file))
  // A set gives what is added while it is read.
  for (const other of reached) for (const target of targets.get(other) ?? []) reached.add(target)
  return reached
}

function isAllowed(file, name) {
  const layer = layerOf(file)
  const { layers = [], packages = [], node = false } = LAYERS[layer]
  if (name.startsWith('node:')) return node
  if (name.startsWith('.')) {
    const target = layerOf(targetOf(file, name))
    if (target === undefined) return false
    if (layer in CORE_ROOMS && TEST.test(file)) return target in CORE_ROOMS
    return target === layer || layers.some((allowed) => covers(allowed, target))
  }
  // Without the prefix a module of Node could be taken for a package.
  if (builtinModules.includes(name)) return false
  const ofTests = TEST.test(file) ? FOR_TESTS : []
  return [...packages, ...ofTests].some((allowed) => isPartOf(name, allowed))
}

function isPartOf(name, allowed) {
  return name === allowed || name.startsWith(`${allowed}/`)
}

/** Whether a name in the table means this layer: `*` means all, `core/*` means core and its rooms. */
function covers(allowed, layer) {
  if (allowed === '*') return true
  if (!allowed.endsWith('/*')) return allowed === layer
  const folder = allowed.slice(0, -2)
  return layer === folder || layer.startsWith(`${folder}/`)
}

function layerOf(file) {
  const fitting = Object.keys(LAYERS).filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return fitting.sort((a, b) => b.length - a.length)[0]
}
