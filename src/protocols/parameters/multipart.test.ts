import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { valuesOf } from './form-parser.ts'
import { formOfMultipart, parseMultipart } from './multipart.ts'

const TYPE = 'multipart/form-data; boundary=XX'

const body = (...parts: readonly [string, Buffer | string][]): Buffer =>
  Buffer.concat([
    ...parts.flatMap(([name, content]) => [
      Buffer.from(`--XX\r\nContent-Disposition: form-data; name="${name}"; filename="f"\r\n\r\n`),
      Buffer.from(content as string),
      Buffer.from('\r\n'),
    ]),
    Buffer.from('--XX--\r\n'),
  ])

test('fields come in their order, as the bytes that were sent', () => {
  const parts = parseMultipart(body(['policy', 'SKIP'], ['file', Buffer.from([0, 13, 10, 255])]), TYPE)
  expect(parts.map(({ name, content }) => [name, content.toString('hex')])).toEqual([
    ['policy', Buffer.from('SKIP').toString('hex')],
    ['file', '000d0aff'],
  ])
})

test('a quoted boundary, blanks behind it, and text around the parts are borne with', () => {
  const sent = 'before\r\n--a b \r\nContent-Disposition: form-data; name=x\r\n\r\n1\r\n--a b--\r\nbehind'
  expect(parseMultipart(Buffer.from(sent), 'multipart/form-data; charset=x; boundary="a b"')).toMatchObject([
    { name: 'x', content: Buffer.from('1') },
  ])
})

test('empty fields and no fields stay as they are', () => {
  expect(parseMultipart(body(['a', '']), TYPE)).toMatchObject([{ name: 'a', content: Buffer.alloc(0) }])
  expect(parseMultipart(Buffer.from('--XX--\r\n'), TYPE)).toEqual([])
})

test('a text that is sent comes back', () => {
  const part = fc.tuple(
    fc.string().filter((name) => !/["\r\n]/.test(name)),
    fc.uint8Array(),
  )
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const sent = parts.map(([name, bytes]): [string, Buffer] => [name, Buffer.from(bytes)])
      const got = parseMultipart(body(...sent), TYPE)
      expect(got.map(({ name, content }) => [name, Buffer.from(content)])).toEqual(sent)
    }),
  )
})

test('fields without a file name are a form that reads the same', () => {
  const part = fc.tuple(fc.stringMatching(/^[a-z%+&=]{1,8}$/), fc.string({ unit: 'grapheme' }), fc.boolean())
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const heads = parts.map(([name, text, isFile]) =>
        [`--XX\r\nContent-Disposition: form-data; name="${name}"${isFile ? '; filename=""' : ''}`, text].join(
          '\r\n\r\n',
        ),
      )
      const form = formOfMultipart(Buffer.from([...heads, '--XX--'].join('\r\n')), TYPE, 9)
      const texts = parts.filter(([, , isFile]) => !isFile).map(([name, text]) => [name, text] as const)
      const first = new Map(texts.toReversed())
      const values = valuesOf('/', form, 9)
      for (const [name, text] of first) expect(values.get(name)).toBe(text)
      expect([...values]).toHaveLength(first.size)
    }),
  )
})

test('any bytes are read or refused', () => {
  const piece = fc.constantFrom(
    '--XX',
    '\r\n',
    '--',
    ' ',
    'Content-Disposition: form-data; name="a"',
    '\r\n\r\n',
    'x',
    '"',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      try {
        parseMultipart(Buffer.from(pieces.join('')), TYPE)
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    }),
    { numRuns: 2000 },
  )
})

test.each([
  ['another type', 'application/json; charset=x', body(), /but its type is "application\/json"\./],
  ['no type', undefined, body(), /but its type is none\./],
  ['no boundary', 'multipart/form-data; x=y', body(), /names no boundary/],
  ['a boundary that does not occur', TYPE, Buffer.from('hello'), /does not occur/],
  ['a body that is cut', TYPE, body(['file', 'abc']).subarray(0, -8), /last boundary is missing/],
  ['a part without a name', TYPE, Buffer.from('--XX\r\nX: y\r\n\r\n1\r\n--XX--'), /has no name/],
  ['a part without headers', TYPE, Buffer.from('--XX\r\n1\r\n--XX--'), /has no headers/],
  [
    'too many parts',
    TYPE,
    body(...Array.from({ length: 33 }, () => ['a', 'b'] as [string, string])),
    /too many parts/,
  ],
])('%s is refused', (...[, type, sent, message]) => {
  expect(() => parseMultipart(sent, type)).toThrow(message)
})
