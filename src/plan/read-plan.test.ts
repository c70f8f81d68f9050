import { describe, expect, test } from 'vitest'
import { isThing, nameOf, type PlanLine, type PlanThing } from './plan.ts'
import { ShapeError } from '../core/records/shape.ts'
import { readPlanLine } from './read-plan.ts'

const HEAD = {
  kind: 'plan',
  format: 1,
  madeMs: 1_795_504_574_784,
  sources: [{ url: 'http://old:8848/nacos', kind: 'java-1', version: '1.4.8' }],
  counts: { config: 1 },
  lastRefMs: 0,
  endedMs: 0,
}
const ITEM = { namespace: '', group: 'G', dataId: 'a.yml' }
const CONTENT = { content: 'a: 1\r\n', md5: null, encryptedDataKey: '', appName: '' }
const AUTHOR = { user: null, ip: '10.0.0.1' }
const OLD_ID = '1099225348278587392'
const NOTES = { desc: null, use: null, effect: null, schema: null, tags: 'x,y' }
const GRAY = { name: 'beta', rule: 'beta', expression: '10.0.0.9', priority: 1 }
const SERVICE = {
  kind: 'service',
  namespace: 'dev',
  group: 'G',
  name: 's',
  protectThreshold: 0.5,
  selector: { type: 'none', expression: '' },
  metadata: { a: 'b' },
  clusters: [
    { name: 'c', checker: { type: 'HTTP', path: '/up' }, checkPort: 80, useInstancePort: true, metadata: {} },
  ],
  ephemeral: null,
}
const PLACE = { namespace: 'dev', group: 'G', service: 's', cluster: 'c', ip: '10.0.0.7', port: 80 }
const SETTINGS = { ephemeral: false, weight: 1, enabled: true, healthy: true, metadata: {}, app: '' }
const THINGS = [
  { kind: 'namespace', id: 'dev', name: 'Dev', desc: '' },
  { kind: 'switch', name: 'pushEnabled', value: 'false' },
  { kind: 'user', username: 'ann', passwordHash: null, enabled: true },
  { kind: 'role', username: 'ann', role: 'R' },
  { kind: 'permission', role: 'R', resource: 'dev:*:*', action: 'rw' },
  { kind: 'history', ...ITEM, ...CONTENT, ...AUTHOR, oldId: OLD_ID, op: 'U', type: null, atMs: 5 },
  { kind: 'config', ...ITEM, ...CONTENT, ...AUTHOR, ...NOTES, type: 'yaml', createdMs: null, modifiedMs: 7 },
  { kind: 'gray', ...ITEM, ...CONTENT, ...GRAY, modifiedMs: null },
  SERVICE,
  { kind: 'instance', ...PLACE, ...SETTINGS, seenMs: 9 },
]

const readFirst = (line: object) => readPlanLine(JSON.stringify(line), 1)
const readSecond = (line: object) => readPlanLine(JSON.stringify(line), 2)

describe('a line of a plan', () => {
  test('is read as it was written', () => {
    expect(readFirst(HEAD)).toEqual(HEAD)
    for (const thing of THINGS) expect(readSecond(thing)).toEqual(thing)
    const note = { kind: 'conflict', about: 'config', name: 'public/G/a', reason: 'two nodes differ' }
    expect(readSecond(note)).toEqual(note)
    expect(isThing(readSecond(note))).toBe(false)
    expect(readSecond({ kind: 'end' })).toEqual({ kind: 'end' })
  })

  test('has a name for people', () => {
    expect(THINGS.map((thing) => nameOf(thing as PlanThing))).toEqual([
      'dev',
      'pushEnabled',
      'ann',
      'ann R',
      'R dev:*:* rw',
      'public/G/a.yml 1099225348278587392',
      'public/G/a.yml',
      'public/G/a.yml beta',
      'dev/G@@s',
      'dev/G@@s 10.0.0.7:80#c',
    ])
  })

  test('loses fields that are not known', () => {
    expect(readSecond({ ...SERVICE, later: 1 })).toEqual(SERVICE)
  })

  test.each(THINGS)('of kind $kind needs each of its fields, and the error names line and field', (thing) => {
    for (const field of Object.keys(thing).filter((name) => name !== 'kind')) {
      const { [field as keyof typeof thing]: _left, ...rest } = thing
      expect(() => readPlanLine(JSON.stringify(rest), 7), field).toThrow(
        new RegExp(`^line 7 of the plan: ${field} must be `),
      )
    }
  })

  test.each<[string, unknown, RegExp]>([
    ['no JSON', '{"kind":"config","content":"cut', /^line 2 of the plan: the line is not JSON/],
    ['no object', [1], /^line 2 of the plan: must be an object/],
    [
      'an unknown kind',
      { kind: 'toString' },
      /^line 2 of the plan: kind must be one of plan, end, namespace/,
    ],
    [
      'a nested field',
      { ...SERVICE, clusters: [{ ...SERVICE.clusters[0], metadata: { a: 1 } }] },
      /^line 2 of the plan: clusters metadata a must be a text of whole letters/,
    ],
    ['an id that is no number', { ...THINGS[5], oldId: '1 or 2' }, /oldId must be a text of 1 to 20 digits/],
    ['a time that no Date has', { ...THINGS[5], atMs: 1e300 }, /atMs must be a whole number/],
    ['half a letter', { ...THINGS[6], content: '\ud83d' }, /content must be a text of whole letters/],
    ['a second head', HEAD, /kind plan is that of the first line only/],
  ])('is refused with %s', (_, line, message) => {
    const read = (): PlanLine => readPlanLine(typeof line === 'string' ? line : JSON.stringify(line), 2)
    expect(read).toThrow(ShapeError)
    expect(read).toThrow(message)
  })

  test('is refused as the first one unless it is a head of this version', () => {
    expect(() => readFirst(THINGS[0]!)).toThrow('line 1 of the plan: kind must be plan')
    expect(() => readFirst({ ...HEAD, format: 2 })).toThrow('line 1 of the plan: format must be 1, but is 2')
  })
})
