import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type ItemMetadata,
  METADATA_HEAD,
  metadataText,
  MetadataError,
  metaKey,
  metaLine,
  parseMetadata,
  parseMetaLines,
} from './config-metadata.ts'

const written = (items: readonly ItemMetadata[]): string => METADATA_HEAD + items.map(metadataText).join('')

test('metadata has the five keys of the layout, and what is more stands in a comment', () => {
  const item = {
    group: 'G',
    dataId: 'a.yml',
    type: 'yaml',
    desc: 'what: for',
    appName: '',
    extras: { configTags: 'x,y' },
  }
  expect(written([item])).toBe(
    'metadata:\n- appName: ""\n  dataId: a.yml\n  desc: "what: for"\n  group: G\n  type: yaml\n' +
      '  # waypost {"configTags":"x,y"}\n',
  )
})

test('any metadata survives', async () => {
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
  const pieces = fc.constantFrom(
    'metadata:',
    '\n',
    '- ',
    '  ',
    'group: ',
    'dataId: x',
    '"',
    "'",
    '\\',
    '#',
    '|',
    ' ',
    'é',
  )
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

describe('what other emitters of YAML write is read', () => {
  test.each([
    [
      'plain',
      'metadata:\n- appName: shop\n  dataId: a\n  desc: two words\n  group: G\n  type: text\n',
      'two words',
    ],
    ['indented', 'metadata:\n  - dataId: a\n    group: G\n    desc: x\n', 'x'],
    ['single quotes', "metadata:\n- dataId: a\n  desc: 'it''s: x'\n  group: G\n", "it's: x"],
    [
      'folded plain',
      'metadata:\n- dataId: a\n  desc: one\n    two\n    three\n  group: G\n',
      'one two three',
    ],
    [
      'folded quotes',
      "metadata:\n- dataId: a\n  desc: 'one  \n    two\n\n    three'\n  group: G\n",
      'one two\nthree',
    ],
    [
      'escaped folds',
      'metadata:\n- dataId: a\n  desc: "one\\\n    \\ two\\ \n    three"\n  group: G\n',
      'one two  three',
    ],
    ['escapes', 'metadata:\n- dataId: a\n  desc: "\\u4f60\\x41\\U0001F600\\t"\n  group: G\n', '你A😀\t'],
    ['null', 'metadata:\n- dataId: a\n  desc: null\n  group: G\n', null],
    ['a tilde', 'metadata:\n- dataId: a\n  desc: ~\n  group: G\n', null],
    ['CRLF and a mark', '\ufeffmetadata:\r\n- dataId: a\r\n  desc: x # why\r\n  group: G\r\n', 'x'],
    ['unknown keys', 'metadata:\n- dataId: a\n  more: x\n  desc: x\n  group: G\n', 'x'],
    ['a dash alone', 'metadata:\n-\n  dataId: a\n  desc: x\n  group: G\n', 'x'],
  ])('%s', async (_name, text, desc) => {
    expect(await parseMetadata(text)).toMatchObject([{ group: 'G', dataId: 'a', desc }])
  })

  test('an empty list', async () => {
    expect(await parseMetadata('metadata: []\n')).toEqual([])
  })
})

describe('refused with the line is', () => {
  test.each([
    ['another document', 'items:\n- a\n', /line 1: metadata: is expected/],
    ['a list of texts', 'metadata:\n- abc\n', /line 2/],
    ['a flow', 'metadata:\n- dataId: {a: b}\n', /line 2: unexpected {/],
    ['an open quote', 'metadata:\n- dataId: "a\n', /line 2: a quoted text does not end/],
    ['a repeated key', 'metadata:\n- dataId: a\n  dataId: b\n', /line 3: dataId stands twice/],
    ['an alias', 'metadata:\n- dataId: *a\n', /line 2/],
    ['no group', 'metadata:\n- dataId: a\n', /item 1: group and dataId are required/],
    ['broken extras', 'metadata:\n- dataId: a\n  # waypost {\n', /line 3/],
  ])('%s', async (_name, text, told) => {
    await expect(parseMetadata(text)).rejects.toThrow(told)
    await expect(parseMetadata(text)).rejects.toThrow(MetadataError)
  })
})

test('a large file takes no more than linear time', async () => {
  const blanks = `metadata:\n- dataId: "${' '.repeat(200_000)}x"\n  group: G\n  desc: '${' \n'.repeat(100_000)}x'\n`
  const began = performance.now()
  await parseMetadata(blanks)
  expect(performance.now() - began).toBeLessThan(3_000)
})

test('lines of the first layout name the item with a tilde for its last dot', () => {
  expect(metaLine({ group: 'G', dataId: 'a.b.yml', appName: 'shop' })).toBe('G.a.b~yml.app=shop\r\n')
  expect(metaKey({ group: 'G', dataId: 'plain' })).toBe('G.plain.app')
  expect(parseMetaLines('G.a~yml.app=shop\r\n\r\nG.b.app=x=y\n')).toEqual(
    new Map([
      ['G.a~yml.app', 'shop'],
      ['G.b.app', 'x=y'],
    ]),
  )
  expect(() => parseMetaLines('G.a.app\r\n')).toThrow(MetadataError)
})
