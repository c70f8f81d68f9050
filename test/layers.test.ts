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
const HTTP = ['core', 'operations', 'protocols/parameters', 'protocols/http/routing', 'protocols/http/errors']

/** What everything that answers connected clients shares. */
const GRPC = [
  'core',
  'operations',
  'protocols/parameters',
  'protocols/sockets',
  'protocols/grpc/wire',
  'protocols/grpc/connections',
]

/** The longest prefix counts. Files that stand directly in src are their own layer: `main.ts`. */
const LAYERS: Readonly<Record<string, Allowed>> = {
  core: {},
  operations: { layers: ['core', 'sign-in'], node: true },
  audit: { layers: ['core'], node: true },
  archive: { layers: ['core'], packages: ['yaml'], node: true },
  'sign-in': { layers: ['core'], packages: ['jose'], node: true },
  'protocols/answers': { layers: ['core'], node: true },
  'protocols/udp': { layers: ['core'], node: true },
  'protocols/parameters': { layers: ['core'], node: true },
  'protocols/http': { layers: [...HTTP, 'protocols/http/nacos', 'protocols/http/enveloped'], node: true },
  'protocols/http/routing': { layers: ['core', 'operations', 'protocols/parameters'], node: true },
  'protocols/http/errors': { layers: ['core', 'protocols/parameters', 'protocols/http/routing'], node: true },
  'protocols/sockets': { layers: ['core'], node: true },
  'protocols/http/transport': {
    layers: [
      'core',
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
  'protocols/http/endpoints': { layers: [...HTTP, 'protocols/answers', 'archive'], node: true },
  'protocols/http/svc': { layers: [...HTTP, 'protocols/http/endpoints'], node: true },
  'protocols/http/enveloped': {
    layers: [...HTTP, 'protocols/http/endpoints', 'protocols/answers'],
    node: true,
  },
  'protocols/http/nacos': { layers: [...HTTP, 'protocols/http/endpoints', 'archive'], node: true },
  'protocols/grpc/generated': { packages: ['@bufbuild/protobuf'] },
  'protocols/grpc/wire': {
    layers: ['core', 'protocols/parameters', 'protocols/grpc/generated'],
    packages: ['@bufbuild/protobuf'],
    node: true,
  },
  'protocols/grpc/connections': { layers: ['core', 'protocols/sockets', 'protocols/grpc/wire'], node: true },
  'protocols/grpc/requests': { layers: GRPC, node: true },
  'protocols/grpc/transport': {
    layers: GRPC,
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
  store: { layers: ['core'], node: true },
  'store/embedded': { layers: ['core', 'store'], packages: ['libsql'], node: true },
  'store/etcd': { layers: ['core', 'store', 'store/etcd/client'], node: true },
  'store/etcd/client': { packages: ['@bufbuild/protobuf', '@connectrpc'], node: true },
  cluster: { layers: ['core'], node: true },
  feed: { layers: ['core'], node: true },
  subscribers: { layers: ['core', 'feed'], node: true },
  probes: { layers: ['core'], packages: ['mysql2'], node: true },
  jobs: { layers: ['core'], node: true },
  machine: { node: true },
  metrics: { layers: ['core', 'feed'], packages: ['prom-client'], node: true },
  settings: { node: true },
  command: { layers: ['settings', 'archive', 'store'], node: true },
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

/** What a test beside the code may import besides. */
const FOR_TESTS = ['vitest', 'fast-check']

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => file.replaceAll('\\', '/'))
  .sort()

describe('each file imports only what its layer may', () => {
  test.each(files)('%s', (file) => {
    expect(layerOf(file), `no layer is named for ${file}: add it to the table of this test`).toBeDefined()
    expect(
      importsOf(file, readFileSync(join(src, file), 'utf8')).filter((name) => !isAllowed(file, name)),
    ).toEqual([])
  })
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
  const protocols = files.filter(
    (file) => file.startsWith('protocols/') && !/\.test(-support)?\.ts$/.test(file),
  )
  const past = protocols.filter((file) =>
    importsOf(file, readFileSync(join(src, file), 'utf8')).some((name) =>
      BEHIND_OPERATIONS.includes(relative(src, join(src, dirname(file), name)).replaceAll('\\', '/')),
    ),
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
  ['store/embedded/connection.ts', 'libsql', true],
  ['protocols/http/routing/route.ts', '../../../store/embedded/store.ts', false],
  ['store/embedded/store.ts', 'libsql', true],
  ['store/other.ts', 'libsql', false],
  ['store/etcd/client/calls.ts', '@connectrpc/connect-node', true],
  ['store/etcd/client/calls.ts', '../../../core/ports.ts', false],
  ['store/etcd/keys.ts', '@connectrpc/connect', false],
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

function isAllowed(file: string, name: string): boolean {
  const layer = layerOf(file)!
  const { layers = [], packages = [], node = false } = LAYERS[layer]!
  if (name.startsWith('node:')) return node
  if (name.startsWith('.')) {
    const target = layerOf(relative(src, join(src, dirname(file), name)))
    return target !== undefined && (target === layer || layers.includes(target) || layers.includes('*'))
  }
  // Without the prefix a module of Node could be taken for a package.
  if (builtinModules.includes(name)) return false
  const ofTests = /\.test(-support)?\.ts$/.test(file) ? FOR_TESTS : []
  return [...packages, ...ofTests].some((allowed) => name === allowed || name.startsWith(`${allowed}/`))
}

function layerOf(file: string): string | undefined {
  const fitting = Object.keys(LAYERS).filter((layer) => file === layer || file.startsWith(`${layer}/`))
  return fitting.sort((a, b) => b.length - a.length)[0]
}

/** The names of everything that a file imports, whatever form the import has. */
function importsOf(file: string, code: string): string[] {
  const { program } = parseSync(file, code)
  const found: string[] = []
  const add = ({ source }: { source: { type: string; value?: unknown } | null }) => {
    if (source) found.push(source.type === 'Literal' ? String(source.value) : '(computed)')
  }
  new Visitor({
    ImportDeclaration: add,
    ExportNamedDeclaration: add,
    ExportAllDeclaration: add,
    ImportExpression: add,
    TSImportType: add,
  }).visit(program)
  return found
}
