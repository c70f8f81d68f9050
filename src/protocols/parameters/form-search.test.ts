import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { parseFormBody, parseQuery, FormValues } from './form-parser.ts'
import { findFields, type FoundValue, TOO_LONG } from './form-search.ts'

const NAMES = ['accessToken', 'username', 'password']
const FIELDS = NAMES.map((name) => ({ name, longestValue: 100 }))

function find(form: Buffer | string, maxParameters = 100): FoundValue[] {
  return findFields({ bytes: Buffer.from(form), maxParameters }, FIELDS)
}

function parsed(parse: (values: FormValues) => void): (string | undefined)[] | undefined {
  const values = new FormValues()
  try {
    parse(values)
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
  return NAMES.map((name) => values.get(name))
}

describe('a search in a form', () => {
  test.each([
    ['accessToken=t', ['t', undefined, undefined]],
    ['a=1&b=2&accessToken=t&c=3', ['t', undefined, undefined]],
    ['username=u&password=a%2Bb+%25', [undefined, 'u', 'a+b %']],
    ['%61ccess%54oken=t&accessToken=u', ['t', undefined, undefined]],
    ['accessToken=&accessToken=u', ['', undefined, undefined]],
    ['accessToken&username', ['', '', undefined]],
    ['xaccessToken=t&accessTokenx=t&+accessToken=t&accesstoken=t', [undefined, undefined, undefined]],
    ['content=accessToken=t%26accessToken=u', [undefined, undefined, undefined]],
    ['accessToken=a=b&', ['a=b', undefined, undefined]],
    ['', [undefined, undefined, undefined]],
  ])('%s', (form, expected) => {
    expect(find(form)).toEqual(expected)
  })

  test('does not change the form', () => {
    const form = Buffer.from('%61ccessToken=a%41+b&x=%41')
    const before = Buffer.from(form)
    findFields({ bytes: form, maxParameters: 10 }, FIELDS)
    expect(form).toEqual(before)
  })

  test('does not decode a value that is too long', () => {
    expect(find(`accessToken=${'%41'.repeat(40)}&username=u`)).toEqual([TOO_LONG, 'u', undefined])
  })

  test('of too many fields is refused, empty ones too', () => {
    const refusal = expect.objectContaining({ code: 'too-many' })
    expect(() => find('a&'.repeat(101))).toThrow(refusal)
    expect(() => find('&'.repeat(10_001))).toThrow(refusal)
    expect(find(`${'&'.repeat(9_000)}accessToken=t`)[0]).toBe('t')
  })
})

describe('for any form', () => {
  const encoded = (text: string) =>
    fc
      .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
      .map((escapes) =>
        Array.from(text, (one, at) => (escapes[at] ? `%${one.charCodeAt(0).toString(16)}` : one)).join(''),
      )
  const name = fc.oneof(
    fc.constantFrom(...NAMES).chain(encoded),
    fc.constantFrom(...NAMES, 'accesstoken', 'user', '%', '%6', '%61', 'password%', '+password', ''),
  )
  const value = fc.string({
    unit: fc.constantFrom('a', '+', '%', '4', '1', 'F', '=', 'é', '\u0000'),
    maxLength: 9,
  })
  const field = fc.oneof(
    fc.tuple(name, value).map(([one, other]) => `${one}=${other}`),
    name,
    fc.constantFrom('', '=', '==', 'x=%ff'),
  )
  const form = fc.array(field, { maxLength: 8 }).map((fields) => Buffer.from(fields.join('&')))

  test('the search finds the same fields as the parser: in small forms, in large forms and in queries', () => {
    fc.assert(
      fc.property(form, (bytes) => {
        const large = Buffer.concat([bytes, Buffer.from(`&x=${'y'.repeat(5_000)}`)])
        const readings = [
          parsed((values) => parseFormBody(Buffer.from(bytes), values, 100)),
          parsed((values) => parseFormBody(Buffer.from(large), values, 100)),
          parsed((values) => parseQuery(bytes.toString('latin1'), values, 100)),
        ]
        for (const reading of readings) if (reading !== undefined) expect(find(bytes)).toEqual(reading)
      }),
      { numRuns: 3_000 },
    )
  })
})
