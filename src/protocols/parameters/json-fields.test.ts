import { generateKeyPairSync } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import {
  parseBeat,
  parseHealthChecker,
  parseInstanceLocators,
  parseMetadata,
  parseSelector,
} from './json-fields.ts'

const LIMIT = { maxMetadataBytes: 8192 }
const DEEP = `${'['.repeat(200_000)}${']'.repeat(200_000)}`

function metadata(text: string, maxBytes = 8192): object {
  return { ...parseMetadata(text, 'metadata', maxBytes) }
}

describe('metadata', () => {
  test.each([
    ['', {}],
    ['  ', {}],
    ['null', {}],
    [' null ', {}],
    ['{}', {}],
    [
      '{"a":"b","n":1,"x":1.5,"t":true,"z":null,"o":{"k":[1]}}',
      { a: 'b', n: '1', x: '1.5', t: 'true', z: '', o: '{"k":[1]}' },
    ],
    ['a=b', { a: 'b' }],
    ['a=b, c = d=e ,f=', { a: 'b', c: 'd=e', f: '' }],
    ['a=b,', { a: 'b' }],
    ['名=中', { 名: '中' }],
  ])('%s is read', (text, value) => {
    expect(metadata(text)).toEqual(value)
  })

  const wrong = 'x [] 1 "a" { {a:1} =b a=b,,c=d a=b,c , {"a":1}x nulL null,'
  test.each(wrong.split(' '))('%s is refused', (text) => {
    expect(() => metadata(text)).toThrow(
      expect.objectContaining({
        code: 'invalid-parameter',
        facts: expect.objectContaining({ parameter: 'metadata' }),
      }),
    )
  })

  test('names of object prototypes are keys like others', () => {
    for (const text of ['{"__proto__":"x","constructor":"y"}', '__proto__=x,constructor=y']) {
      const read = parseMetadata(text, 'metadata', 100)
      expect(Object.entries(read).flat()).toEqual(['__proto__', 'x', 'constructor', 'y'])
    }
    expect(({} as Record<string, unknown>)['x']).toBeUndefined()
  })

  test('the size counts UTF-8 bytes of keys and values', () => {
    expect(metadata('{"k":"中"}', 4)).toEqual({ k: '中' })
    expect(() => metadata('{"k":"中a"}', 4)).toThrow('at most 4 bytes')
    expect(() => metadata('k=12345', 4)).toThrow('at most 4 bytes')
  })

  test('any depth is a refusal at worst', () => {
    expect(() => metadata(`{"a":${DEEP}}`)).toThrow(Refusal)
  })

  // test/security/parsers.test.ts reads any text.
  test('any object of texts comes back', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.string()), (source) => {
        expect(Object.entries(parseMetadata(JSON.stringify(source), 'metadata', 1e6)).sort()).toEqual(
          Object.entries(source).sort(),
        )
      }),
    )
  })
})

describe('beats', () => {
  test.each([
    [
      'npm',
      '"serviceName":"G@@S","port":"8080","cluster":"DEFAULT","weight":1,"metadata":{"a":1},"scheduled":true',
      { ip: '1.1.1.1', port: 8080, cluster: 'DEFAULT', weight: 1, serviceName: 'G@@S' },
    ],
    [
      'Go',
      '"serviceName":"G@@S","port":80,"weight":0,"cluster":"","metadata":{},"scheduled":false',
      { port: 80, cluster: undefined, weight: 0, ephemeral: undefined },
    ],
    [
      'Python',
      '"serviceName":"G@@S","port":80,"weight":1.0,"ephemeral":true',
      { ephemeral: true, metadata: undefined },
    ],
    [
      'Java',
      '"port":80,"weight":1.0,"cluster":null,"metadata":null,"period":5000,"stopped":false',
      { cluster: undefined, metadata: undefined },
    ],
  ])('are read as the client of %s sends them', (_client, fields, beat) => {
    expect(parseBeat(`{"ip":"1.1.1.1",${fields}}`, LIMIT)).toMatchObject(beat)
  })

  test.each([
    ['{}', 'beat.ip'],
    ['{"ip":"1.1.1.1"}', 'beat.port'],
    ['{"ip":null,"port":1}', 'beat.ip'],
    ['{"ip":"a b","port":1}', 'beat.ip'],
    ['{"ip":["1.1.1.1"],"port":1}', 'beat.ip'],
    ['{"ip":"1.1.1.1","port":65536}', 'beat.port'],
    ['{"ip":"1.1.1.1","port":1.5}', 'beat.port'],
    ['{"ip":"1.1.1.1","port":1,"weight":-1}', 'beat.weight'],
    ['{"ip":"1.1.1.1","port":1,"cluster":"a b"}', 'beat.cluster'],
    ['{"ip":"1.1.1.1","port":1,"metadata":[]}', 'beat.metadata'],
    ['{"ip":"1.1.1.1","port":1,"metadata":"x"}', 'beat.metadata'],
    ['{"__proto__":{"ip":"1.1.1.1","port":1}}', 'beat.ip'],
    ['[]', 'beat'],
    ['x', 'beat'],
    ['null', 'beat'],
  ])('%s is refused for %s', (text, parameter) => {
    expect(() => parseBeat(text, LIMIT)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ parameter }) }),
    )
  })
})

describe('batch locators', () => {
  test('ports and flags may be texts, the kind has a default, and the cluster may be absent', () => {
    const text = '[{"ip":"1.1.1.1","port":"80","ephemeral":"false"},{"ip":"h","port":1,"clusterName":"c1"}]'
    expect(parseInstanceLocators(text)).toEqual([
      { ip: '1.1.1.1', port: 80, ephemeral: false, clusterName: undefined },
      { ip: 'h', port: 1, ephemeral: true, clusterName: 'c1' },
    ])
    expect(parseInstanceLocators('[]')).toEqual([])
  })

  test.each(['{}', '[1]', '[null]', '[{"ip":"a"}]', 'x', '[{"ip":"a","port":"x"}]', DEEP])(
    '%.20s is refused',
    (text) => {
      expect(() => parseInstanceLocators(text)).toThrow(Refusal)
    },
  )
})

describe('selectors', () => {
  test('none and label', () => {
    expect(parseSelector(undefined)).toEqual({ type: 'none' })
    expect(parseSelector(' ')).toEqual({ type: 'none' })
    expect(parseSelector('{"type":"none","contextType":"NONE"}')).toEqual({ type: 'none' })
    const expression = 'CONSUMER.label.zone = PROVIDER.label.zone & CONSUMER.label.a=PROVIDER.label.a'
    const selector = { type: 'label', expression }
    expect(parseSelector(JSON.stringify(selector))).toEqual(selector)
  })

  test.each([
    'x',
    '[]',
    '{}',
    '{"type":"other"}',
    '{"type":"label"}',
    '{"type":"label","expression":""}',
    '{"type":"label","expression":5}',
    '{"type":"label","expression":"a = b"}',
    '{"type":{"toString":1}}',
    `{"type":${DEEP}}`,
  ])('%.40s is refused', (text) => {
    expect(() => parseSelector(text)).toThrow(Refusal)
  })
})

describe('health checkers', () => {
  const UNSENT = { pwd: undefined, publicKey: undefined, ca: undefined }

  test.each([
    '{"type":"MYSQL","pwd":"s3cret",}',
    '["s3cret"]',
    '{"type":"MYSQL","pwd":["s3cret"]}',
    '{"type":"HTTP","headers":"Authorization s3cret"}',
  ])('a refusal does not repeat what may be a password: %s', (text) => {
    const read = () => parseHealthChecker(text, { unknownIsNone: false })
    expect(read).toThrow(expect.objectContaining({ code: 'invalid-parameter' }))
    expect(read).toThrow(expect.not.objectContaining({ message: expect.stringContaining('s3cret') }))
  })

  const read = (text: string, unknownIsNone = false): unknown => parseHealthChecker(text, { unknownIsNone })

  test.each([
    ['{"type":"tcp"}', { type: 'TCP' }],
    ['{"type":"NONE"}', { type: 'NONE' }],
    ['{"type":"Http"}', { type: 'HTTP', path: '', headers: '', expectedResponseCode: 200 }],
    [
      '{"type":"HTTP","path":"/up?x=1","headers":"a:b|c: d","expectedResponseCode":"204"}',
      { type: 'HTTP', path: '/up?x=1', headers: 'a:b|c: d', expectedResponseCode: 204 },
    ],
    [
      '{"type":"MYSQL","user":"u","pwd":"p","cmd":"select 1"}',
      { type: 'MYSQL', user: 'u', pwd: 'p', cmd: 'select 1' },
    ],
    // The header has a name alone, the MySQL checker no password.
    [
      '{"type":"HTTP","headers":"x-a|x-b:"}',
      { type: 'HTTP', path: '', headers: 'x-a|x-b:', expectedResponseCode: 200 },
    ],
    ['{"type":"MYSQL","user":"u","pwd":null}', { type: 'MYSQL', user: 'u', cmd: '', ...UNSENT }],
    [
      '{"type":"MYSQL","pwd":"","publicKey":"","ca":" "}',
      { type: 'MYSQL', user: '', cmd: '', pwd: '', publicKey: '', ca: '' },
    ],
  ])('%s is read', (text, checker) => expect(read(text)).toEqual(checker))

  test.each([
    ['publicKey', 'a key that is too short', { modulusLength: 1024 }],
    ['publicKey', 'a key with an odd exponent', { modulusLength: 2048, publicExponent: 65_539 }],
  ])('%s must not be %s', (field, _what, options) => {
    const { publicKey } = generateKeyPairSync('rsa', options)
    const text = publicKey.export({ type: 'spki', format: 'pem' })
    expect(() => read(JSON.stringify({ type: 'MYSQL', [field]: text }))).toThrow('2048 to 4096 bits')
  })

  test('a private key is refused and not repeated', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const text = privateKey.export({ type: 'pkcs8', format: 'pem' })
    for (const field of ['publicKey', 'ca'])
      expect(() => read(JSON.stringify({ type: 'MYSQL', [field]: text }))).toThrow(
        expect.not.objectContaining({ message: expect.stringContaining('BEGIN PRIVATE') }),
      )
  })

  test('an unknown type is refused, or none where clients expect that', () => {
    expect(() => read('{"type":"UDP"}')).toThrow('one of TCP, HTTP, MYSQL, NONE')
    expect(read('{"type":"UDP"}', true)).toEqual({ type: 'NONE' })
    expect(read('{}', true)).toEqual({ type: 'NONE' })
  })

  test.each([
    'TCP',
    '{"type":{"toUpperCase":1}}',
    '{"type":"HTTP","path":"up"}',
    '{"type":"HTTP","path":"/a\\r\\nX: y"}',
    '{"type":"HTTP","headers":"a:b\\r\\nc:d"}',
    '{"type":"HTTP","headers":"non sense"}',
    '{"type":"HTTP","expectedResponseCode":99}',
    '{"type":"MYSQL","user":1}',
  ])('%s is refused', (text) => {
    expect(() => read(text)).toThrow(Refusal)
  })
})
