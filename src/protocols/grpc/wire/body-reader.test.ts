import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { parseBody, SlicedBody } from './body-reader.ts'

describe('a body', () => {
  test('is the JSON object that its bytes spell', () => {
    expect(parseBody(Buffer.from('{"dataId":"a","tenant":null}'))).toEqual({ dataId: 'a', tenant: null })
  })

  test('of no bytes is an empty object', () => {
    expect(parseBody(new Uint8Array())).toEqual({})
  })

  test.each(['[1]', 'null', '"a"', '{', '{"a":1}}', '\ufeff\u0000'])('that is %s is refused', (text) => {
    expect(() => parseBody(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'malformed-request' }))
  })

  test('that is nested deeply is refused', () => {
    const text = `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    expect(() => parseBody(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'too-deep' }))
  })
})

/** The same, read in slices of `sliceBytes` outside of texts. */
function inSlices(text: string, sliceBytes?: number): { object: unknown; slices: number } {
  const body = new SlicedBody(Buffer.from(text), sliceBytes)
  let slices = 1
  while (body.read()) slices++
  return { object: body.object(), slices }
}

/** The value of a text of JSON, or that it has none. */
function outcome(read: () => unknown): unknown {
  try {
    return { read: read() }
  } catch {
    return 'refused'
  }
}

function objectIn(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw new TypeError('no object')
}

describe('a body in slices', () => {
  const value = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.jsonValue({ maxDepth: 2 })))
  const object = fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), value)
  const spaces = fc.constantFrom(undefined, 1)

  test('is the same object', () => {
    fc.assert(
      fc.property(object, spaces, fc.integer({ min: 1, max: 30 }), (each, space, sliceBytes) => {
        const text = JSON.stringify(each, undefined, space)
        expect(inSlices(text, sliceBytes).object).toEqual(JSON.parse(text))
      }),
    )
  })

  test('is refused where the whole is no JSON, and only there', () => {
    const piece = fc.constantFrom('[', ']', '{', '}', ',', ':', '"a"', '1', 'x', ' ', '"', '')
    const cut = fc.record({ at: fc.nat(200), length: fc.nat(3), piece })
    fc.assert(
      fc.property(object, fc.array(cut, { maxLength: 3 }), (each, cuts) => {
        let text = JSON.stringify(each)
        for (const { at, length, piece: put } of cuts)
          text = text.slice(0, at) + put + text.slice(at + length)
        expect(outcome(() => inSlices(text, 1).object)).toEqual(outcome(() => objectIn(text)))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    '{"a":[1,]}',
    '{"a":[1,2,]}',
    '{"a":[ ,1]}',
    '{"a":[1, ,2]}',
    '{"a":[1],"b":[ \n,1]}',
    '{"a":[1},"b":[2]}',
    '{"a":[1',
    '{"a":[1]',
    '[[1],[2]]',
    '{"a":[1]]}',
  ])('%s is refused', (text) => {
    expect(() => inSlices(text, 1)).toThrow(expect.objectContaining({ code: 'malformed-request' }))
  })
})

/** A list of as many items as fit into `bytes`. */
function listOf(item: (at: number) => string, bytes: number): string {
  const items: string[] = []
  for (let size = 0; size < bytes; size += items.at(-1)!.length + 1) items.push(item(items.length))
  return `[${items.join(',')}]`
}

const keys = (at: number, count: number) =>
  `{${Array.from({ length: count }, (_, key) => `"k${at}-${key}":1`).join(',')}}`

describe('bodies of 3 MiB are parsed some ten thousand values at a time', () => {
  const bytes = 3 * 1024 * 1024
  test.each([
    ['objects of one new key', `{"a":${listOf((at) => `{"k${at}":1}`, bytes)}}`],
    ['objects of a thousand new keys', `{"a":${listOf((at) => keys(at, 1_000), bytes)}}`],
    ['empty objects', `{"a":${listOf(() => '{}', bytes / 4)}}`],
    ['long numbers', `{"a":${listOf((at) => `${at}.${'7'.repeat(400)}`, bytes)}}`],
    [
      'lists of less than a slice',
      `{${Array.from({ length: 100 }, (_, at) => `"a${at}":${listOf((item) => `{"k${item}":1}`, bytes / 200)}`).join(',')}}`,
    ],
  ])('%s', (_, text) => {
    const parse = vi.spyOn(JSON, 'parse')
    const body = new SlicedBody(Buffer.from(text))
    const parsedIn: number[] = []
    for (let isMore = true; isMore;) {
      parse.mockClear()
      isMore = body.read()
      parsedIn.push(
        parse.mock.calls.reduce((sum, [each]) => sum + each.replaceAll(/"[^"]*"/g, '""').length, 0),
      )
    }
    parse.mockRestore()
    expect(body.object()).toEqual(JSON.parse(text))
    expect(parsedIn.length).toBeGreaterThan(10)
    expect(Math.max(...parsedIn)).toBeLessThan(128 * 1024)
  })
})

test.each([
  ['an object', `{"metadata":${keys(0, 20_000)}}`],
  ['an item of a list', `{"a":[{},${keys(0, 30_000)}]}`],
  ['the body around its lists', `{${Array.from({ length: 20_000 }, (_, at) => `"a${at}":[]`).join(',')}}`],
  ['a number', `{"a":${'7'.repeat(100_000)}}`],
])('very much in %s is refused before it is parsed', (_, text) => {
  expect(() => parseBody(Buffer.from(text))).toThrow('65536 bytes besides texts')
})

test('a body of very many values is refused before it is parsed', () => {
  expect(() => parseBody(Buffer.from(`{"a":[${'1,'.repeat(600_000)}1]}`))).toThrow('at most 600000 values')
})

describe('the largest bodies of clients are read', () => {
  const instance = (at: number) => ({
    ip: `10.0.${at >> 8}.${at & 255}`,
    port: 8_080,
    weight: 1,
    healthy: true,
    enabled: true,
    ephemeral: true,
    clusterName: 'DEFAULT',
    serviceName: 'DEFAULT_GROUP@@orders',
    instanceId: null,
    instanceHeartBeatInterval: 5_000,
    instanceHeartBeatTimeOut: 15_000,
    ipDeleteTimeout: 30_000,
    instanceIdGenerator: 'simple',
  })
  const metadata = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, key) => [`key.${key}`, `${key}`]))
  test.each([
    [
      'a batch of 10,000 instances with metadata of 40 keys',
      { instances: Array.from({ length: 10_000 }, (_, at) => ({ ...instance(at), metadata: metadata(40) })) },
    ],
    [
      'an instance with a megabyte of metadata',
      {
        instance: {
          ...instance(0),
          metadata: Object.fromEntries(
            Array.from({ length: 8_000 }, (_, key) => [`key.${key}`, 'x'.repeat(120)]),
          ),
        },
      },
    ],
    [
      'a listening to 10,000 items',
      {
        listen: true,
        configListenContexts: Array.from({ length: 10_000 }, (_, at) => ({
          dataId: `application-${at}.yaml`,
          group: 'DEFAULT_GROUP',
          tenant: 'dev',
          md5: 'x'.repeat(32),
        })),
      },
    ],
    [
      'a watch of a pattern with 20,000 names',
      {
        receivedGroupKeys: Array.from(
          { length: 20_000 },
          (_, at) => `dev>>DEFAULT_GROUP>>application-${at}.yaml`,
        ),
      },
    ],
    ['a content', { dataId: 'a', content: JSON.stringify(metadata(100_000)) }],
  ])('%s', (_, body) => {
    expect(parseBody(Buffer.from(JSON.stringify(body)))).toEqual(body)
  })
})
