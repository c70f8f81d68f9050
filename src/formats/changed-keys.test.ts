import { expect, test } from 'vitest'
import { changedKeys, keysOf } from './changed-keys.ts'

async function changed(type: string, before: string, after: string) {
  const found = await changedKeys(type, before, after)
  return found !== undefined && 'first' in found
    ? found.first.map(({ key, before: old, after: young }) => [key, old, young])
    : found
}

test.each<[type: string, before: string, after: string, ...keys: string[]]>([
  ['json', '{"id":1234567890123456789}', '{"id":1234567890123456788}', 'id'],
  ['json', '{"a":13246918697656345}', '{"a":13246918697656344}', 'a'],
  ['json', '{"a":1e400}', '{"a":2e400}', 'a'],
  ['json', '{"a":1.0}', '{"a":1}', 'a'],
  ['json', '{"a":"1"}', '{"a":1}', 'a'],
  ['json', '{"a":[]}', '{"a":{}}', 'a'],
  ['json', '[]', '{}', '.'],
  ['json', '{"b":1,"a":[]}', '{"b":1}', 'a'],
  ['json', '{"a.b":1,"a":{"b":2}}', '{"a.b":9,"a":{"b":2}}', '"a.b"'],
  ['json', '{"a":1,"a":2}', '{"a":2}', 'a', 'a (2)'],
  ['yaml', 'a: -9007199254740993', 'a: -9007199254740992', 'a'],
  ['yaml', 'a: "true"', 'a: true', 'a'],
  ['yaml', 'a: null', 'a: "null"', 'a'],
  ['yaml', 'a: 0x10', 'a: 16', 'a'],
  ['yaml', 'a: 0o17', 'a: 15', 'a'],
  ['yaml', 'a: 1234e5', 'a: 123400000', 'a'],
  ['yaml', 'b: 1\na: {}', 'b: 1', 'a'],
  ['yaml', 'a: !!str 1', 'a: 1', 'a'],
  ['yaml', '1: x', '"1": x', '"1"', '1'],
  ['yaml', 'a: |\n  x\n', 'a: >\n  x\n', 'a'],
  ['yaml', 'a: 1\n---\nb: 2\n', 'a: 1\n---\nb: 3\n', '#2 b'],
  ['toml', 'a = 1.0', 'a = 1', 'a'],
  ['toml', 'a = "1"', 'a = 1', 'a'],
  ['toml', '[t]\nday = 2026-01-02\n', '[t]\nday = 2026-01-03\n', 't.day'],
  ['toml', '"a.b" = 1\na.b = 2', '"a.b" = 9\na.b = 2', '"a.b"'],
  ['toml', '[[a]]\n[[a]]\n', '[[a]]\n', 'a[1]'],
  ['properties', 'a=1\na=2', 'a=2', 'a', 'a (2)'],
  ['properties', 'a=8080 ', 'a=8080', 'a'],
  ['xml', '<a><b c="1"/></a>', '<a><b c="2"/></a>', 'a.b.@c'],
  ['xml', '<a><b/><c/></a>', '<a><c/><b/></a>', 'a.#order'],
  ['xml', '<a>x<b/></a>', '<a><b/>x</a>', 'a.#text', 'a.#text[1]'],
])('%s: %j and %j differ in %s', async (type, ...[before, after, ...keys]) => {
  const found = await changed(type, before, after)
  expect(Array.isArray(found) ? found.map(([key]) => key) : found).toEqual(keys)
})

test('values are shown as they are written', async () => {
  expect(await changed('yaml', 'a:\n  b: 1\n  c: [1, 2]\n', "a:\n  b: '2'\n  c: [1, 2, 3]\n")).toEqual([
    ['a.b', '1', "'2'"],
    ['a.c[2]', undefined, '3'],
  ])
})

test.each([
  ['base: &x {a: 1, b: 2}\nc:\n  <<: *x\n  b: 3\n', 'base: {a: 1, b: 2}\nc:\n  a: 1\n  b: 3\n'],
  ['c:\n  <<: [{a: 1}, {a: 2}]\n', 'c:\n  a: 1\n'],
  ['a: &x [1, 2]\nb: *x\n', 'a: [1, 2]\nb: [1, 2]\n'],
  ['a: |\n  x\n  y\n', 'a: |\n      x\n      y\n\n'],
  ['"a": 1\n', 'a: 1 # same\n'],
])('YAML with anchors, or with other blanks, is as if it were written out: %j', async (before, after) => {
  expect(await changed('yaml', before, after)).toEqual([])
})

test.each<[type: string, before: string, after: string, why: object]>([
  ['json', '{}', '{', { why: { code: 'keyExpected' }, side: 'after' }],
  ['yaml', 'a: [', 'a: 1', { why: { code: 'yaml.BAD_INDENT' }, side: 'before' }],
  ['yaml', 'a: 1', 'a: *b', { why: { code: 'noAnchor', text: 'b' }, side: 'after' }],
  ['yaml', 'a: 1', 'a: &a [*a]', { why: { code: 'recursiveAlias' }, side: 'after' }],
])('%s: where the keys cannot be listed, it is said why: %j, %j', async (type, ...[before, after, why]) => {
  expect(await changedKeys(type, before, after)).toMatchObject(why)
})

test('aliases of aliases are not followed for ever', async () => {
  const lines = Array.from(
    { length: 20 },
    (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}*a${at}]`,
  )
  const found = await keysOf('yaml', `a0: &a0 x\n${lines.join('\n')}\n`)
  expect(found).toMatchObject({ why: { code: 'tooManyAliases' } })
})

test('a text has no keys', async () => {
  expect(await changedKeys('text', 'a', 'b')).toBeUndefined()
})

test('keys are named up to 200, and counted beyond', async () => {
  const text = (value: number): string =>
    Array.from({ length: 1_000 }, (_, index) => `key-${index}: ${value}`).join('\n')
  const found = await changedKeys('yaml', text(1), text(2))
  expect(found).toMatchObject({ count: 1_000, first: { length: 200 } })
})

test('says which values are secret, also by a name beside them or in an address', async () => {
  const text = 'env:\n  - name: DB_PASSWORD\n    value: x\nurl: redis://:p@cache\nuser: shop\n'
  const found = await keysOf('yaml', text)
  expect(found !== undefined && 'secret' in found && [...found.secret]).toEqual(['env[0].value', 'url'])
})
