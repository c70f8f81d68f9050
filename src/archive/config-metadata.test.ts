import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Document, type ToStringOptions, visit } from 'yaml'
import {
  type ItemMetadata,
  METADATA_HEAD,
  metadataText,
  MetadataError,
  metaKey,
  metaLine,
  parseMetaLines,
} from './config-metadata.ts'
import { parseMetadata } from './metadata-reader.ts'

const written = (items: readonly ItemMetadata[]): string => METADATA_HEAD + items.map(metadataText).join('')

test('metadata has the five keys of the layout; other fields are in a comment', () => {
  const item = { group: 'G', dataId: 'a.yml', type: 'yaml', desc: 'what: for', appName: '' }
  expect(written([{ ...item, extras: { configTags: 'x,y' } }])).toBe(
    'metadata:\n- appName: ""\n  dataId: a.yml\n  desc: "what: for"\n  group: G\n  type: yaml\n' +
      '  # waypost {"configTags":"x,y"}\n',
  )
})

test('any metadata is written and read without a change', async () => {
  const text = fc
    .string({ unit: 'binary', maxLength: 200 })
    .filter((value) => Buffer.from(value).toString() === value)
  const some = fc.string({ unit: 'grapheme', minLength: 1 })
  const item = fc.record({
    group: some,
    dataId: some,
    type: fc.option(some),
    desc: fc.option(text),
    appName: fc.option(text),
    extras: fc.oneof(fc.constant({}), fc.record({ configTags: text, schema: text })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(item, { maxLength: 5 }), async (items) => {
      expect(await parseMetadata(written(items))).toEqual(items)
    }),
  )
})

test('any text is read or refused', async () => {
  const signs = ['"', "'", '\\', '#', '|', ' ', 'é']
  const pieces = fc.constantFrom('metadata:', '\n', '- ', '  ', 'group: ', 'dataId: x', ...signs)
  await fc.assert(
    fc.asyncProperty(fc.array(pieces, { maxLength: 40 }), async (parts) => {
      try {
        await parseMetadata(`metadata:\n${parts.join('')}`)
      } catch (error) {
        expect(error).toBeInstanceOf(MetadataError)
      }
    }),
    { numRuns: 1000 },
  )
})

describe('metadata of other emitters is read', () => {
  /** One item in a block; the rows have the lines after its dataId. */
  test.each([
    ['plain', '  desc: two words\n', 'two words'],
    ['single quotes', "  desc: 'it''s: x'\n", "it's: x"],
    ['folded plain', '  desc: one\n    two\n    three\n', 'one two three'],
    ['folded quotes', "  desc: 'one  \n    two\n\n    three'\n", 'one two\nthree'],
    ['escaped folds', '  desc: "one\\\n    \\ two\\ \n    three"\n', 'one two  three'],
    ['escapes', '  desc: "\\u4f60\\x41\\U0001F600\\t"\n', '你A😀\t'],
    ['null', '  desc: null\n', null],
    ['a tag for null', '  desc: !!null "null"\n', null],
    ['a tilde', '  desc: ~\n', null],
    ['unknown keys', '  more: x\n  desc: x\n', 'x'],
    ['literal block', '  desc: |-\n    one\n    - two\n', 'one\n- two'],
    ['folded block', '  desc: >\n    one\n    two\n', 'one two\n'],
    ['numbers', '  desc: 0010\n', '0010'],
    ['unknown collections', '  more: [x, {y: z}]\n  desc: x\n', 'x'],
  ])('%s', async (_name, lines, desc) => {
    const text = `metadata:\n- dataId: a\n${lines}  group: G\n  appName: shop\n`
    expect(await parseMetadata(text)).toMatchObject([{ group: 'G', dataId: 'a', desc, appName: 'shop' }])
  })

  test.each([
    ['indented', 'metadata:\n  - dataId: a\n    group: G\n    desc: x\n', 'x'],
    ['CRLF and a mark', '\ufeffmetadata:\r\n- dataId: a\r\n  desc: x # why\r\n  group: G\r\n', 'x'],
    ['a dash alone', 'metadata:\n-\n  dataId: a\n  desc: x\n  group: G\n', 'x'],
    ['flow mappings', 'metadata:\n- {dataId: a, group: G, desc: "x, y"}\n', 'x, y'],
    ['JSON', '{"metadata":[{"dataId":"a","group":"G","desc":"x"}]}', 'x'],
    ['quoted keys', '"metadata":\n- "dataId": "a"\n  "desc": "x"\n  "group": "G"\n', 'x'],
    ['explicit keys', '? metadata\n: - ? dataId\n    : a\n    ? group\n    : G\n    ? desc\n    : x\n', 'x'],
    ['tags', 'metadata: !!seq\n- !!map\n  dataId: !!str a\n  desc: !!str null\n  group: G\n', 'null'],
    ['directives and ends', '%YAML 1.1\n---\nmetadata:\n- dataId: a\n  desc: x\n  group: G\n...\n', 'x'],
    ['anchors', 'metadata:\n- dataId: a\n  group: &g G\n  type: *g\n  desc: *g\n', 'G'],
  ])('%s', async (_name, text, desc) => {
    expect(await parseMetadata(text)).toMatchObject([{ group: 'G', dataId: 'a', desc }])
  })

  test('an alias of a text in an item long before', async () => {
    const middle = '- {dataId: b, group: *g}\n'.repeat(400)
    const items = await parseMetadata(`metadata:\n- {dataId: a, group: &g G}\n${middle}`)
    expect(items).toHaveLength(401)
    expect(items.every(({ group }) => group === 'G')).toBe(true)
  })

  test('any item, in any style of a common emitter', async () => {
    // In a block the emitter itself loses a text of blanks only.
    const text = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 120 })
      .filter((one) => one.trim() !== '')
    const line = fc.oneof(
      text,
      fc.array(text, { maxLength: 4 }).map((lines) => lines.join('\n')),
    )
    const item = fc.record({ dataId: text, group: text, desc: line })
    const quotes = ['PLAIN', 'QUOTE_SINGLE', 'QUOTE_DOUBLE', 'BLOCK_LITERAL', 'BLOCK_FOLDED'] as const
    const styles = fc.record<ToStringOptions>({
      defaultStringType: fc.constantFrom(...quotes),
      lineWidth: fc.constantFrom(0, 40, 80),
      indentSeq: fc.boolean(),
      collectionStyle: fc.constantFrom('any', 'flow'),
      directives: fc.boolean(),
    })
    const all = fc.array(item, { minLength: 1, maxLength: 5 })
    await fc.assert(
      fc.asyncProperty(all, styles, fc.boolean(), async (items, style, withFlowItems) => {
        const document = new Document({ metadata: items })
        if (withFlowItems) visit(document, { Map: (key, map) => void (map.flow = key !== null) })
        expect(await parseMetadata(document.toString(style))).toMatchObject(items)
      }),
      { numRuns: 500 },
    )
  })

  test('an empty list', async () => {
    expect(await parseMetadata('metadata: []\n')).toEqual([])
  })
})

describe('a refusal names the line', () => {
  test.each([
    ['another document', 'items:\n- a\n', /line 1: the key metadata is expected/],
    ['nothing', '', /line 1: the key metadata is expected/],
    ['two documents', 'metadata: []\n---\nmetadata: []\n', /one document is expected/],
    ['a list of texts', 'metadata:\n- abc\n', /line 2: an item with keys and values is expected/],
    ['a text', 'metadata: abc\n', /line 1: a list is expected/],
    ['a collection for a text', 'metadata:\n- dataId: {a: b}\n', /line 2: dataId is not a text/],
    ['an open quote', 'metadata:\n- dataId: "a\n', /line [23]: Missing closing "quote/],
    ['a repeated key', 'metadata:\n- dataId: a\n  dataId: b\n', /line 3: Map keys must be unique/],
    ['an alias of nothing', 'metadata:\n- dataId: *a\n', /line 2: the alias a is no text/],
    ['an alias of a list', 'metadata:\n- more: &a [x]\n  dataId: *a\n', /line 3: the alias a is no text/],
    ['no group', 'metadata:\n- dataId: a\n', /item 1: group and dataId are required/],
    ['broken extras', 'metadata:\n- dataId: a\n  # waypost {\n', /line 3/],
    ['deep nesting', `metadata:\n- dataId: ${'['.repeat(10_000)}`, /line 2: nested too deeply/],
    [
      'a list in flow style without end',
      `metadata: [${'{a: b}, '.repeat(100_000)}`,
      /line 1: an item is longer than 256 KiB/,
    ],
    ['an item of very many keys', `metadata:\n- ${'a:\n  '.repeat(20_000)}`, /line \d+: too many keys/],
    [
      'a value of a megabyte',
      `metadata:\n- dataId: "${'x'.repeat(1_000_000)}"\n`,
      /line 2: an item is longer than 256 KiB/,
    ],
    ['comments only', `metadata:\n${' #\n'.repeat(20_000)}`, /line \d+: too many keys/],
  ])('%s', async (_name, text, reason) => {
    await expect(parseMetadata(text)).rejects.toThrow(reason)
    await expect(parseMetadata(text)).rejects.toThrow(MetadataError)
  })

  test('a value that does not end, before all of it is read', async () => {
    await expect(parseMetadata(`metadata:\n- dataId: "${'x'.repeat(2_000_000)}`)).rejects.toThrow(
      /longer than/,
    )
  })

  test('an item late in a long list', async () => {
    const items = '- dataId: a\n  group: G\n'.repeat(5_000)
    await expect(parseMetadata(`metadata:\n${items}- dataId: b\n`)).rejects.toThrow(/item 5001: group/)
    await expect(parseMetadata(`metadata:\n${items}- dataId: b\n  b\n`)).rejects.toThrow(/line 1000[23]: /)
  })
})

test('a large file takes no more than linear time', async () => {
  const blanks = `metadata:
- dataId: "${' '.repeat(200_000)}x"
  group: G
- dataId: a
  group: G
  desc: '${' \n'.repeat(100_000)}   x'
`
  // Quadratic time is minutes: the test does not end in time.
  expect(await parseMetadata(blanks)).toBeDefined()
})

test('other work runs while a long list is read', async () => {
  let turns = 0
  const count = setInterval(() => turns++, 1)
  const items = await parseMetadata(
    `metadata:\n${'- dataId: a\n  group: G\n  # waypost {"use":"u"}\n'.repeat(10_000)}`,
  )
  clearInterval(count)
  expect(items).toHaveLength(10_000)
  expect(items.every(({ extras }) => extras?.use === 'u')).toBe(true)
  expect(turns).toBeGreaterThan(10)
})

test('lines of the first layout name the item with a tilde for its last dot', () => {
  expect(metaLine({ group: 'G', dataId: 'a.b.yml', appName: 'shop' })).toBe('G.a.b~yml.app=shop\r\n')
  expect(metaKey({ group: 'G', dataId: 'plain' })).toBe('G.plain.app')
})

test('lines of the first layout are read for the items that are there', async () => {
  const text = 'G.a~yml.app=shop\r\n\r\nG.b.app=x=y\nG.c.app=1\rG.d.app=2'
  const wanted = new Set(['G.a~yml.app', 'G.b.app', 'G.d.app', 'G.e.app'])
  expect(Object.fromEntries(await parseMetaLines(text, wanted))).toEqual({
    'G.a~yml.app': 'shop',
    'G.b.app': 'x=y',
    'G.d.app': '2',
  })
  await expect(parseMetaLines('G.a.app=x\r\nG.b.app\r\n', wanted)).rejects.toThrow('line 2')
  await expect(parseMetaLines('G.a.app', wanted)).rejects.toThrow(MetadataError)
})

test('other work runs while very many lines of the first layout are read', async () => {
  let turns = 0
  const count = setInterval(() => turns++, 1)
  expect((await parseMetaLines('a=\r\n'.repeat(500_000), new Set(['G.a.app']))).size).toBe(0)
  clearInterval(count)
  expect(turns).toBeGreaterThan(5)
})
