import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { parseFormBody, parseQuery, FormValues } from './form-parser.ts'

function query(text: string, most = 100): Record<string, string> {
  const values = new FormValues()
  parseQuery(text, values, most)
  return Object.fromEntries(values)
}

function body(bytes: Buffer | string): Record<string, string> {
  const values = new FormValues()
  parseFormBody(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, values, 100)
  return Object.fromEntries(values)
}

describe('the fields of a form', () => {
  test('the first occurrence of a name wins', () => {
    expect(query('a=1&a=2&b=3')).toEqual({ a: '1', b: '3' })
    expect(query('a=1&a=%ff&b=3')).toEqual({ a: '1', b: '3' })
  })

  test('the first occurrence of a name wins among very many', () => {
    const many = Array.from({ length: 90 }, (_, at) => `a${at % 45}=${at}`).join('&')
    const expected = Array.from({ length: 45 }, (_, at) => [`a${at}`, `${at}`])
    expect(query(many)).toEqual(Object.fromEntries(expected))
    expect(query(many.replaceAll('a', '%61'))).toEqual(Object.fromEntries(expected))
  })

  test('the query wins over the body', () => {
    const values = new FormValues()
    parseQuery('a=query', values, 10)
    parseFormBody(Buffer.from('a=body&b=body'), values, 10)
    expect([...values]).toEqual([
      ['a', 'query'],
      ['b', 'body'],
    ])
  })

  test('a plus is a space, %2B is a plus', () => {
    expect(query('a+b=c+d%2Be')).toEqual({ 'a b': 'c d+e' })
  })

  test('a name without = has an empty value, and an empty name is ignored', () => {
    expect(query('a&b=&=c&&d=1&')).toEqual({ a: '', b: '', d: '1' })
  })

  test('a name that is longer than any parameter is ignored, and not decoded', () => {
    expect(body(`${'+'.repeat(5_000)}=1&b=2`)).toEqual({ b: '2' })
    expect(body(`${'%ff'.repeat(5_000)}=1&b=2`)).toEqual({ b: '2' })
  })

  test('only the first = splits', () => {
    expect(query('a=b=c==')).toEqual({ a: 'b=c==' })
  })

  test('names of object prototypes are names like others', () => {
    const values = new FormValues()
    parseQuery('__proto__=1&constructor=2', values, 10)
    expect(values.get('__proto__')).toBe('1')
    expect(values.get('toString')).toBeUndefined()
    expect(values.get('constructor')).toBe('2')
  })

  test('JSON that is not escaped is read as it is', () => {
    expect(body('beat={"ip":"1.1.1.1","metadata":{"a":"b"}}&x=[1,2]')).toEqual({
      beat: '{"ip":"1.1.1.1","metadata":{"a":"b"}}',
      x: '[1,2]',
    })
  })

  test('too many parameters are refused', () => {
    expect(() => query('a=1&b=2&c=3', 2)).toThrow(expect.objectContaining({ code: 'too-many' }))
    expect(query('&&&&a=1&&b=2&&', 2)).toEqual({ a: '1', b: '2' })
  })
})

describe('encodings', () => {
  test.each([
    ['%', '%'],
    ['100%', '100%'],
    ['%4', '%4'],
    ['%zz', '%zz'],
    ['%%41', '%A'],
    ['%4%41', '%4A'],
    ['%E4%B8%AD%', '中%'],
    ['a+%zz+%20b', 'a %zz  b'],
    ['%u4e2d', '%u4e2d'],
    ['%00', '\0'],
  ])('%s is read as %s', (text, value) => {
    expect(query(`a=${text}`)).toEqual({ a: value })
    expect(body(`a=${text}`)).toEqual({ a: value })
  })

  test('raw UTF-8 in the request target is UTF-8, as node shows it', () => {
    const raw = Buffer.from('名=中文+é%20%E4%B8%AD', 'utf8').toString('latin1')
    expect(query(raw)).toEqual({ 名: '中文 é 中' })
  })

  test('raw UTF-8 in a body is UTF-8, and a byte order mark stays', () => {
    expect(body('a=中文%2B+é&b=\uFEFFx')).toEqual({ a: '中文+ é', b: '\uFEFFx' })
  })

  test.each(['%FF', '%C3', '%ED%A0%80', '%C0%AF', 'x%E4%B8', '%ff%zz'])(
    '%s is not UTF-8 and refused',
    (text) => {
      const refusal = expect.objectContaining({
        code: 'malformed-request',
        facts: expect.objectContaining({ parameter: 'a' }),
      })
      expect(() => query(`z=1&a=${text}`)).toThrow(refusal)
      expect(() => body(`z=1&a=${text}`)).toThrow(refusal)
    },
  )

  test('raw bytes that are not UTF-8 name the parameter', () => {
    const bytes = Buffer.concat([Buffer.from('ok=中&bad='), Buffer.from([0xff])])
    expect(() => body(bytes)).toThrow(
      expect.objectContaining({ facts: expect.objectContaining({ parameter: 'bad' }) }),
    )
    expect(() => query('bad=\xff')).toThrow(Refusal)
    expect(() => query('\xff=1')).toThrow(Refusal)
  })

  test('a character half raw and half escaped is still one character', () => {
    expect(body(Buffer.concat([Buffer.from('a='), Buffer.from([0xc3]), Buffer.from('%A9')]))).toEqual({
      a: 'é',
    })
  })
})

describe('for any values', () => {
  const text = fc.string({ unit: 'grapheme-composite' })
  const pairs = fc.uniqueArray(
    fc.tuple(
      text.filter((name) => name !== ''),
      text,
    ),
    { selector: ([name]) => name, maxLength: 20 },
  )

  test('an escaped text comes back', () => {
    fc.assert(
      fc.property(pairs, (list) => {
        const encoded = list
          .map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
          .join('&')
        expect([...parsed(encoded)]).toEqual(list)
        expect([...parsed(encoded.replaceAll('%20', '+'))]).toEqual(list)
      }),
    )
  })

  test('any bytes are read as the definition says, or refused', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.constantFrom(...Buffer.from('%+aF9')), fc.integer({ min: 0, max: 255 }))),
        (list) => {
          const bytes = Buffer.from(list.filter((byte) => byte !== 0x26 && byte !== 0x3d))
          const wanted = byDefinition(bytes)
          const read = (): string | undefined => body(Buffer.concat([Buffer.from('a='), bytes]))['a']
          if (wanted === undefined) expect(read).toThrow(Refusal)
          else expect(read()).toBe(wanted)
        },
      ),
      { numRuns: 1000 },
    )
  })

  test('no text makes the query reader fail in another way', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary-ascii' }), (text) => {
        expect(() => query(text, 1000)).not.toThrow(TypeError)
      }),
    )
  })

  function parsed(encoded: string): FormValues {
    const values = new FormValues()
    parseQuery(encoded, values, 100)
    return values
  }

  /** Form decoding spelled out on text of one character a byte. */
  function byDefinition(bytes: Buffer): string | undefined {
    const decoded = bytes
      .toString('latin1')
      .replaceAll('+', ' ')
      .replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(decoded, 'latin1'))
    } catch {
      return undefined
    }
  }
})
