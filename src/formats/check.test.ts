import { describe, expect, test } from 'vitest'
import { keysOf } from './changed-keys.ts'
import { check } from './check.ts'
import { isWarning } from './finding.ts'
import { read } from './read.ts'

/** The findings, each with the text that it is about. */
const found = async (type: string, text: string) =>
  (await check(type, text)).map(({ code, from, to }) => [code, text.slice(from, to)])

describe('JSON', () => {
  test.each(['{}', '[1,-2.5e3,"a\\u00e9\\n",true,null,{"a":{"b":[]}}]', ' 1 ', '"a"'])(
    '%s is right',
    async (text) => expect(await found('json', text)).toEqual([]),
  )

  test.each([
    ['{"a":1,"a":2}', 'lastCounts', '"a"'],
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
  expect(await found('properties', 'a=1\nb=\\u12\na: 2')).toEqual([
    ['wrongEscape', '\\u'],
    ['lastCounts', 'a: 2'],
  ])
  expect(await found('text', '{"')).toEqual([])
})

test('properties are read with their separators, continued lines and escapes, as they are written', async () => {
  const text = '# no\na=1\n b : two words\nc three\nd=x\\\n   y\\u0041\ne\nf\\ g\t= h\n'
  const [root] = (await read('properties', text))!.roots
  const pairs = root?.kind === 'map' ? root.members : []
  expect(pairs.map(({ name, value }) => [name, value.kind === 'scalar' && value.text])).toEqual([
    ['a', '1'],
    ['b', 'two words'],
    ['c', 'three'],
    ['d', 'xy\\u0041'],
    ['e', ''],
    ['f g', 'h'],
  ])
})

/** The findings that readers of applications agree with; the places are those of people. */
const JUDGED: readonly (readonly [type: string, text: string, code: string | undefined])[] = [
  ['yaml', 'allowlist: *.svc.cluster.local:9200\n', 'noAnchor'],
  ['yaml', 'files: [*.log, *.gz]\n', 'noAnchor'],
  ['yaml', 'b: *a\na: &a 1\n', 'noAnchor'],
  ['yaml', 'a: &a 1\n---\nb: *a\n', 'noAnchor'],
  ['yaml', 'a: &a 1\nb: *a\n', undefined],
  ['yaml', 'n: !!int abc\n', 'wrongTagged'],
  ['yaml', 'one: &one {a: 1}\ntwo: &two {b: 2}\nc:\n  <<: *one\n  <<: *two\n', undefined],
  ['yaml', 'a: !!map 1\n', 'wrongTagged'],
  ['yaml', 'a: !!seq\n  b: 1\n', 'wrongTagged'],
  ['yaml', 'a: !!str [1]\n', 'wrongTagged'],
  ['yaml', 'a: !!set {b}\nc: !!omap [d: 1]\ne: !f [1]\ng: !!map {}\n', undefined],
  ['yaml', 'c:\n  <<: 1\n', 'wrongMerge'],
  ['yaml', 'a: "\\q"\n', 'yaml.BAD_DQ_ESCAPE'],
  ['yaml', 'a: \u0001\n', 'wrongCharacter'],
  ['yaml', 'yes: 1\ntrue: 2\n', 'duplicateKey'],
  ['yaml', '1: a\n1.0: b\n017: c\n"1": d\n17: e\n', undefined],
  ['yaml', '15: a\n017: b\n', 'duplicateKey'],
  ['yaml', '5: a\n0b1_01: b\n', 'duplicateKey'],
  ['yaml', '90: a\n1:30: b\n', 'duplicateKey'],
  ['yaml', '1.0: a\n1.00: b\n', 'duplicateKey'],
  ['yaml', '.inf: a\n+.Inf: b\n', 'duplicateKey'],
  ['yaml', '.nan: a\n.NaN: b\n', 'duplicateKey'],
  ['yaml', '.inf: a\n-.inf: b\n.nan: c\n.INf: d\n-.5: e\n-0.5: f\n', undefined],
  ['yaml', '0.0: a\n-0.0: b\n0o17: c\n15: d\n', undefined],
  ['yaml', 'a: "x\\\ty"\n', 'wrongEscape'],
  ['yaml', 'a: |#c\n  x\n', 'yaml.MISSING_CHAR'],
  ['yaml', '|#c\n  x\n', 'yaml.MISSING_CHAR'],
  ['yaml', '- >-2#c\n   x\n', 'yaml.MISSING_CHAR'],
  ['yaml', 'a: "x"#c\n', undefined],
  ['yaml', '...\n \n', 'startExpected'],
  ['yaml', '# c\n...\na: 1\n', 'startExpected'],
  ['yaml', 'a: 1\n...\nb: 2\n', 'startExpected'],
  ['yaml', '---\n...\n...\n--- 1\n...\n', undefined],
  ['yaml', 'a: &x.y 1\n', 'wrongAnchor'],
  ['yaml', 'a: &x/y 1\n', 'wrongAnchor'],
  ['yaml', 'a: !!set {b: 1}\n', undefined],
  ['yaml', 'a: 1\rb: 2\r\n', undefined],
  ['yaml', 'a: !!binary "@@"\n', 'wrongTagged'],
  ['yaml', 'a: !!binary |\n  aGkg\n  aG k=\n', undefined],
  ['yaml', '%YAML 2.0\n---\na: 1\n', 'yaml.BAD_DIRECTIVE'],
  ['yaml', '%YAML 1.1\n---\na: 1\n', undefined],
  ['yaml', '[b]: [c]: d\n', 'keyExpected'],
  ['yaml', 'a: {x: 1}: 2\n', 'keyExpected'],
  ['yaml', '[b]: c\n{x: 1}: d\n', undefined],
  ['toml', 'a = 1979-02-30\n', 'wrongMoment'],
  ['toml', 'a = 1980-02-29 07:32:00.5+01:00\n', undefined],
  ['toml', 'a = 07:32\n', 'wrongMoment'],
  ['toml', 'a = [1979-05-27T07:32Z]\n', 'wrongMoment'],
  ['toml', 'a = "\\x41"\n', 'wrongEscape'],
  ['toml', '[a."\\e"]\n', 'wrongEscape'],
  ['toml', 'a = "\\\\x41"\nb = \'\\e\'\n', undefined],
  ['toml', 'a = {\n}\n', 'longTable'],
  ['toml', 'a = { b = 1, }\n', 'longTable'],
  ['toml', 'a = { b = [\n1,\n], c.d = 2 } # c\n', undefined],
  ['toml', '__proto__ = 1\n[a]\n"__proto__" = 2\n', undefined],
  ['toml', '__proto__ = 1\n__proto__ = 2\n', 'duplicateKey'],
  ['toml', '\uFEFFa = 1\n', 'wrongCharacter'],
  [
    'properties',
    'upload.dir=C:\\\\users\\\\app\nr=\\\\d+\\\\.\\\\u\nshare=\\\\\\\\server\\\\users',
    undefined,
  ],
  ['properties', 'a=\\u12', 'wrongEscape'],
  ['properties', 'a=\\u00\\\n  41', undefined],
  ['xml', '<!DOCTYPE c [\n <!ENTITY x "y">\n <!ELEMENT c (#PCDATA)>\n]>\n<c>&x;</c>', undefined],
  ['xml', '<!DOCTYPE c SYSTEM "c.dtd"><c>&nbsp;</c>', undefined],
  ['xml', '<c>&nbsp;</c>', 'noEntity'],
  ['xml', '<a/><b/>', 'outsideRoot'],
  ['xml', 'text', 'outsideRoot'],
  ['xml', '<!-- nothing -->', 'noElement'],
  ['xml', '<a b="1" b="2"/>', 'duplicateAttribute'],
  ['xml', '<a><b></a></b>', 'wrongEndTag'],
  ['xml', '<a>', 'noEndTag'],
  ['xml', '<a>&</a>', 'wrongForm'],
  ['xml', '<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>', 'noEntity'],
]

test.each(JUDGED)('%s: %j has the finding %s', async (type, text, code) => {
  const codes = new Set((await check(type, text)).map((finding) => finding.code))
  expect([...codes]).toEqual(code === undefined ? [] : [code])
})

test.each([
  ['yaml', 'password: *Kx9\n', 'noAnchor', '••••••'],
  ['yaml', 'token: !!int Kx9\n', 'wrongTagged', '••••••'],
  ['yaml', 'secret: |Kx 9\n', 'yaml.UNEXPECTED_TOKEN', 'Block scalar header includes extra characters:'],
  ['yaml', 'password: !Kx9! x\n', 'wrongForm', ''],
  ['yaml', 'password: "\\u12 9"\n', 'yaml.BAD_DQ_ESCAPE', 'Invalid escape sequence'],
  ['yaml', 'password: @Kx9\n', 'yaml.BAD_SCALAR_START', 'Plain value cannot start with reserved character'],
  ['xml', '<password>&Kx9;</password>', 'noEntity', '••••••'],
  ['yaml', 'a: *Kx9\n', 'noAnchor', 'Kx9'],
])('%s: what is said about %j has no secret: %s', async (type, content, ...[code, text]) => {
  expect((await check(type, content))[0]).toMatchObject({ code, text })
  expect(await keysOf(type, content)).toMatchObject({ why: { code, text } })
})

test.each([
  ['yaml', 'a:\n\u00A0\u00A0b: 1\n', [['unseen', '\u00A0\u00A0']]],
  ['yaml', '\u200Bkey: 1\n', [['unseen', '\u200B']]],
  ['text', 'a\u3000b', [['unseen', '\u3000']]],
  ['yaml', 'server：8080\nb: 你好：世界\n', [['wideColon', '：']]],
  ['properties', 'server.port=8080 \n', [['blankAtEnd', ' ']]],
  [
    'text',
    'a\u2800\u2800b\u{E0041}',
    [
      ['unseen', '\u2800\u2800'],
      ['unseen', '\u{E0041}'],
    ],
  ],
  [
    'properties',
    'a\u061C=1\u034F\n',
    [
      ['unseen', '\u061C'],
      ['unseen', '\u034F'],
    ],
  ],
  [
    'json',
    '{"a\uFE0F": "\u115F"}',
    [
      ['unseen', '\uFE0F'],
      ['unseen', '\u115F'],
    ],
  ],
  ['toml', '"a" = "\u0085\u0085"', [['unseen', '\u0085\u0085']]],
  ['yaml', '# 1\uFE0F\u20E3 and \u2764\uFE0F\ta\n', []],
  ['properties', '\uFEFFa=1', [['unseen', '\uFEFF']]],
  ['text', '\uFEFFbegins with a mark, and 👨\u200D👩 is one picture', []],
])('%s: %j has characters that nobody sees', async (type, text, expected) => {
  const warnings = (await check(type, text)).filter(isWarning)
  expect(warnings.map(({ code, from, to }) => [code, text.slice(from, to)])).toEqual(expected)
})
