import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'

/** The names of the methods that change the state and tell the subscribers, and the only files that may use them. */
const USERS: Readonly<Record<string, readonly string[]>> = {
  // The state has tables of records, which have this method too. In the worker it is a method of functions.
  apply: ['core/engine/follower.ts', 'core/engine/state.ts', 'store/embedded/worker/worker.ts'],
  publishChanges: ['core/engine/follower.ts'],
}

/** The tables of the state, and the only files that may change them. */
const TABLES = ['configs', 'gray', 'services', 'instances', 'clusterSizes', 'namingSizes', 'entry']
const CHANGING = ['set', 'setFormal', 'add', 'save', 'delete', 'touch']
const WRITERS = [
  'core/engine/state.ts',
  'core/decisions/draft.ts',
  'core/naming/state/service-entry.ts',
  'core/naming/state/service-table.ts',
]

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts') && !/\.test(-support)?\.ts$/.test(file))
  // A move is a client of servers: it has options and tables of its own.
  .filter((file) => !file.startsWith('move/'))

test('the follower alone applies changes to the state and publishes them to the feed', () => {
  const used = files.flatMap((file) =>
    namesUsedIn(file, readFileSync(join(src, file), 'utf8'))
      .filter((name) => USERS[name]?.includes(file) === false)
      .map((name) => `${file} uses ${name}`),
  )
  expect(used).toEqual([])
})

test('the state alone changes its tables', () => {
  // The doctor has tables of its own.
  const others = files.filter((file) => !WRITERS.includes(file) && !file.startsWith('store/embedded/doctor/'))
  const found = others.flatMap((file) =>
    callsIn(file, readFileSync(join(src, file), 'utf8'))
      .filter(([table, method]) => TABLES.includes(table) && CHANGING.includes(method))
      .map(([table, method]) => `${file} calls ${table}.${method}`),
  )
  expect(found).toEqual([])
  expect(callsIn('x.ts', 'state.configs.set(a); entry.touch(b)')).toEqual([
    ['configs', 'set'],
    ['entry', 'touch'],
  ])
})

test('every way to get at a method is seen', () => {
  const code =
    "a.apply(1); b?.publishChanges; const { apply } = c; const { publishChanges: d } = e; f['apply'](); g[`publishChanges`]"
  expect(namesUsedIn('x.ts', code).sort()).toEqual(
    ['apply', 'publishChanges', 'apply', 'publishChanges', 'apply', 'publishChanges'].sort(),
  )
})

/** The calls of methods: the last name of what they are called on, and the method. */
function callsIn(file: string, code: string): [table: string, method: string][] {
  const found: [string, string][] = []
  new Visitor({
    CallExpression: ({ callee }) => {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      const { object, property } = callee
      const name = object.type === 'MemberExpression' ? object.property : object
      if (name.type === 'Identifier') found.push([name.name, property.name])
    },
  }).visit(parseSync(file, code).program)
  return found
}

/** The names of members that a file reads, as properties, by a constant text or by taking an object apart. */
function namesUsedIn(file: string, code: string): string[] {
  const found: string[] = []
  const add = (key: {
    type: string
    name?: unknown
    value?: unknown
    quasis?: { value: { raw: string } }[]
  }) => {
    if (key.type === 'Identifier') found.push(String(key.name))
    if (key.type === 'Literal') found.push(String(key.value))
    if (key.type === 'TemplateLiteral') found.push((key.quasis ?? []).map(({ value }) => value.raw).join(''))
  }
  new Visitor({
    MemberExpression: ({ property }) => add(property),
    ObjectPattern: ({ properties }) => properties.forEach((one) => 'key' in one && add(one.key)),
  }).visit(parseSync(file, code).program)
  return found.filter((name) => Object.hasOwn(USERS, name))
}
