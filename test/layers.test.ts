import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

interface Module {
  readonly imports: readonly string[]
}

const { modulesOfProject } = await script<{ modulesOfProject: () => Map<string, Module> }>('module-graph.js')
const { layerFaults } = await script<{ layerFaults: (modules: Map<string, Module>) => string[] }>('layers.js')
const { arrowsUp, circles, readmeFaults, roomFaults } = await script<{
  arrowsUp: (arrows: Map<string, Set<string>>, order: readonly string[], folder: string) => string[]
  circles: (arrows: Map<string, Set<string>>) => string[]
  readmeFaults: (room: string, readme: string | undefined, imported: Set<string>) => string[]
  roomFaults: (modules: Map<string, Module>) => string[]
}>('rooms.js')

const modules = modulesOfProject()

test.each([
  ['src/feed/feed.ts', '../server/server.ts', 'src/feed may not import server'],
  ['src/terminal/contexts.ts', '../move/plan-file.ts', 'src/terminal may not import move'],
  ['console/src/state/user.ts', '../frame/app.tsx', 'console/src/state imports frame, which is above it'],
])('an arrow up from %s to %s is found', (file, name, fault) => {
  const planted = new Map(modules)
  const { imports } = modules.get(file)!
  planted.set(file, { ...modules.get(file)!, imports: [...imports, name] })
  expect(roomFaults(planted)).toContain(fault)
})

test('a library imports nothing of the product', () => {
  const file = 'packages/http2/src/stream.ts'
  for (const name of ['../../../src/core/refusal.ts', 'node:fs', '@waypost/etcd-client/clock', 'pino']) {
    const planted = new Map(modules).set(file, { ...modules.get(file)!, imports: [name] })
    expect(layerFaults(planted)).toContain(`${file} may not import ${name}`)
  }
})

test('the judges see what they must', () => {
  const arrows = (rows: Record<string, string[]>): Map<string, Set<string>> =>
    new Map(Object.entries(rows).map(([room, others]) => [room, new Set(others)]))
  expect(arrowsUp(arrows({ low: ['high'], high: ['low'], new: [] }), ['low', 'high'], 'x')).toEqual([
    'x/low imports high, which is above it',
    'x/new: scripts/rooms.js has no place for it',
  ])
  expect(circles(arrows({ a: ['b'], b: ['c'], c: ['b'], d: [] }))).toHaveLength(3)
  expect(circles(arrows({ a: ['b', 'c'], b: ['c'], c: [] }))).toEqual([])
  const readme = '# x\n\n**May import**: `core`, `feed`.\n'
  expect(readmeFaults('x', readme, new Set(['core', 'store']))).toEqual([
    'src/x may not import store',
    'src/x/README.md: it does not import feed',
  ])
  expect(readmeFaults('x', readme + 'more\n'.repeat(12), new Set(['core', 'feed']))).toHaveLength(1)
  expect(readmeFaults('x', undefined, new Set())).toHaveLength(1)
})

async function script<Module>(name: string): Promise<Module> {
  return (await import(pathToFileURL(join(root, 'scripts', name)).href)) as Module
}
