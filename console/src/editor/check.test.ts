import { describe, expect, test } from 'vitest'
import { check } from './check.ts'
import { changedKeys } from './changed-keys.ts'
import { propertiesIn } from './properties.ts'

/** The findings, each with the text that it is about. */
const found = async (type: string, text: string) =>
  (await check(type, text)).map(({ code, from, to }) => [code, text.slice(from, to)])

describe('JSON', () => {
  test.each(['{}', '[1,-2.5e3,"a\\u00e9\\n",true,null,{"a":{"b":[]}}]', ' 1 ', '"a"'])(
    '%s is right',
    async (text) => expect(await found('json', text)).toEqual([]),
  )

  test.each([
    ['{"a":1,"a":2}', 'duplicateKey', '"a"'],
    ['{"a":1,}', 'keyExpected', '}'],
    ['[1 2]', 'commaOrEndExpected', '2'],
    ['{"a" 1}', 'colonExpected', '1'],
    ['["a\nb"]', 'wrongString', '"'],
    ['[01]', 'commaOrEndExpected', '1'],
    ['{a:1}', 'keyExpected', 'a'],
    ['1 x', 'afterEnd', 'x'],
    ['[', 'valueExpected', ''],
  ])('%j: %s', async (text, code, at) => expect(await found('json', text)).toEqual([[code, at]]))

  test('is not followed into any depth', async () => {
    expect(await found('json', '['.repeat(100_000))).toEqual([['tooDeep', '[']])
  })
})

test('YAML has findings with places, keys that occur twice among them', async () => {
  expect(await found('yaml', 'a: 1\nb:\n  c: 1\n  c: 2\n')).toEqual([
    ['duplicateKey', expect.stringContaining('c')],
  ])
  expect(await found('yaml', 'a: [1')).toEqual([['yaml.BAD_INDENT', expect.anything()]])
  expect(await found('yaml', 'a: 1\n---\nb: 2\n')).toEqual([])
})

test('TOML has a finding with its place', async () => {
  const right = '# c\n[a]\nb = 1\nbig = 9223372036854775807\nday = 2026-01-02\n[[list]]\nx = "y"\n'
  expect(await found('toml', right)).toEqual([])
  expect(await found('toml', 'a = 1\nb = x\n')).toEqual([['toml', 'x']])
  expect(await check('toml', 'b = 1\na = 1\n a = 2\n')).toEqual([
    { code: 'duplicateKey', text: 'a', from: 12, to: 18 },
  ])
  expect((await check('toml', '[t]\nx = 1\n[t]\n'))[0]).toMatchObject({ code: 'duplicateKey', text: 't' })
  expect(await found('toml', 'b = [1,\n')).toEqual([['toml', '']])
})

test('XML, properties and texts', async () => {
  expect(await found('xml', '<a><b/></a>')).toEqual([])
  expect((await found('xml', '<a><b></a>')).length).toBeGreaterThan(0)
  expect(await found('properties', 'a=1\nb=\\u12\na: 2')).toEqual([
    ['wrongEscape', '\\u'],
    ['duplicateKey', 'a: 2'],
  ])
  expect(await found('text', '{"')).toEqual([])
})

test('properties are read with their separators, continued lines and escapes', () => {
  const pairs = propertiesIn('# no\na=1\n b : two words\nc three\nd=x\\\n   y\\u0041\ne\n').map(
    ({ key, value }) => [key, value],
  )
  expect(pairs).toEqual([
    ['a', '1'],
    ['b', 'two words'],
    ['c', 'three'],
    ['d', 'xyA'],
    ['e', ''],
  ])
})

describe('changed keys', () => {
  const changed = async (type: string, before: string, after: string) =>
    (await changedKeys(type, before, after))?.first

  test('have the paths of the values that differ', async () => {
    expect(await changed('yaml', 'a:\n  b: 1\n  c: [1, 2]\n', 'a:\n  b: 2\n  c: [1, 2, 3]\n')).toEqual([
      { key: 'a.b', before: '1', after: '2' },
      { key: 'a.c[2]', before: undefined, after: '3' },
    ])
    expect(await changed('json', '{"a":1}', '{}')).toEqual([{ key: 'a', before: '1', after: undefined }])
    const [old, young] = ['[s]\nday = 2026-01-02\nn = 1\n', '[s]\nday = 2026-01-03\nn = 1\n']
    expect(await changed('toml', old, young)).toEqual([
      { key: 's.day', before: '2026-01-02', after: '2026-01-03' },
    ])
    expect(await changed('properties', 'a=1', 'a=1\nb=2')).toEqual([
      { key: 'b', before: undefined, after: '2' },
    ])
  })

  test('are not known of a text that cannot be read', async () => {
    expect(await changedKeys('json', '{}', '{')).toBeUndefined()
    expect(await changedKeys('yaml', 'a: [', 'a: 1')).toBeUndefined()
    expect(await changedKeys('text', 'a', 'b')).toBeUndefined()
  })

  test('are named up to 200, and counted beyond', async () => {
    const text = (value: number): string =>
      Array.from({ length: 1_000 }, (_, index) => `key-${index}: ${value}`).join('\n')
    const found = await changedKeys('yaml', text(1), text(2))
    expect([found?.count, found?.first.length]).toEqual([1_000, 200])
  })
})
