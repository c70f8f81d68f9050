import fc from 'fast-check'
import { type Properties, Type, NACOS_NAMING_RULES, SVC_RULES } from './schema.ts'
import { describe, expect, test } from 'vitest'
import { Refusal } from '../../core/refusal.ts'
import { compileReader } from './parameter-reader.ts'

function read(properties: Properties, sent: Record<string, string>, rules = SVC_RULES): unknown {
  return compileReader(Type.Object(properties), rules)(new Map(Object.entries(sent)))
}

function refusalOf(action: () => unknown): Refusal {
  try {
    action()
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
  throw new Error('nothing was refused')
}

describe('absent and empty', () => {
  const properties = {
    name: Type.String({ minLength: 1 }),
    tenant: Type.Optional(Type.String()),
    pageNo: Type.Integer({ default: 1 }),
    weight: Type.Optional(Type.Number()),
    enabled: Type.Optional(Type.Boolean()),
    mode: Type.Optional(Type.Enum(['a', 'b'])),
  }

  test('absent optional parameters are no keys, defaults are', () => {
    expect(read(properties, { name: 'n' })).toEqual({ name: 'n', pageNo: 1 })
  })

  test('an empty value counts as absent', () => {
    const sent = { name: 'n', tenant: '', pageNo: '', weight: '', enabled: '', mode: '' }
    expect(read(properties, sent)).toEqual({ name: 'n', pageNo: 1 })
  })

  test('a required parameter that is absent or empty is refused by name', () => {
    for (const sent of [{}, { name: '' }] as Record<string, string>[]) {
      const refusal = refusalOf(() => read(properties, sent))
      expect(refusal).toMatchObject({ code: 'missing-parameter', facts: { parameter: 'name' } })
      expect(refusal.message).toBe('name is required: at least 1 characters.')
    }
  })

  test('allowEmpty lets an empty value through, whatever the pattern says', () => {
    const text = Type.String({ allowEmpty: true, pattern: '^x$' })
    expect(read({ text }, { text: '' })).toEqual({ text: '' })
    expect(refusalOf(() => read({ text }, {})).code).toBe('missing-parameter')
  })
})

describe('aliases and trimming', () => {
  test('an alias is read where the name is absent or empty, in order', () => {
    const enabled = Type.Optional(Type.Boolean({ aliases: ['enable', 'on'] }))
    expect(read({ enabled }, { on: 'true' })).toEqual({ enabled: true })
    expect(read({ enabled }, { enabled: '', enable: 'false', on: 'true' })).toEqual({ enabled: false })
    expect(read({ enabled }, { enabled: 'true', enable: 'false' })).toEqual({ enabled: true })
  })

  test('values are trimmed by the rules of the dialect, unless the field says otherwise', () => {
    const sent = { ip: ' 1.1.1.1\t', clusters: ' a , b ' }
    const properties = { ip: Type.String(), clusters: Type.String({ trim: false }) }
    expect(read(properties, sent, NACOS_NAMING_RULES)).toEqual({ ip: '1.1.1.1', clusters: ' a , b ' })
    expect(read(properties, sent, SVC_RULES)).toEqual(sent)
    const blank = refusalOf(() => read(properties, { ip: '  ', clusters: 'a' }, NACOS_NAMING_RULES))
    expect(blank.code).toBe('missing-parameter')
  })
})

describe('numbers', () => {
  const port = Type.Integer({ minimum: 0, maximum: 65535 })
  const weight = Type.Number({ minimum: 0, maximum: 10_000 })

  test.each(['0', '8080', '65535', '0080', '-0'])('%s is a port', (text) => {
    expect(read({ port }, { port: text })).toEqual({ port: Math.abs(Number(text)) })
  })

  test.each([
    '-1',
    '65536',
    '1.0',
    '1e3',
    '0x10',
    ' 1',
    '1 ',
    'x1',
    '+1',
    '١',
    '99999999999999999999',
    'NaN',
    '1_0',
    '∞',
  ])('%s is no port', (text) => {
    expect(refusalOf(() => read({ port }, { port: text }))).toMatchObject({
      code: 'invalid-parameter',
      facts: { parameter: 'port', allowed: 'an integer from 0 to 65535' },
    })
  })

  test.each([
    ['0', 0],
    ['1.0', 1],
    ['.5', 0.5],
    ['5.', 5],
    ['1e3', 1000],
    ['2.5E-1', 0.25],
    ['10000', 10_000],
  ])('%s is a weight', (text, value) => {
    expect(read({ weight }, { weight: text })).toEqual({ weight: value })
  })

  test.each(['-0.1', '10000.1', '0x10', 'Infinity', 'NaN', '1e999', '.', '1,5', '1e', '--1', '1f'])(
    '%s is no weight',
    (text) => {
      expect(refusalOf(() => read({ weight }, { weight: text })).code).toBe('invalid-parameter')
    },
  )

  test('the sent value is shown, cut and printable', () => {
    expect(refusalOf(() => read({ port }, { port: 'x1' })).message).toBe(
      'port must be an integer from 0 to 65535, but is "x1".',
    )
    const long = refusalOf(() => read({ port }, { port: `\u001b[31m\n${'9'.repeat(1_000_000)}` })).message
    expect(long).toBe(`port must be an integer from 0 to 65535, but is "?[31m?${'9'.repeat(58)}…".`)
  })
})

describe('booleans', () => {
  const flag = Type.Boolean()
  test.each(['true', 'TRUE', 'True', 'yes', 'on', 't', 'Y', '1'])('%s is true on /svc', (text) => {
    expect(read({ flag }, { flag: text })).toEqual({ flag: true })
  })
  test.each(['false', 'False', 'no', 'OFF', 'f', 'n', '0'])('%s is false on /svc', (text) => {
    expect(read({ flag }, { flag: text })).toEqual({ flag: false })
  })
  test.each(['2', 'maybe', 'truee', 'null'])('%s is refused on /svc', (text) => {
    expect(refusalOf(() => read({ flag }, { flag: text })).facts.allowed).toBe('true or false')
  })
  test.each([
    ['true', true],
    ['On', true],
    ['y', true],
    ['T', true],
    ['1', false],
    ['maybe', false],
  ])('%s is %s on /nacos', (text, value) => {
    expect(read({ flag }, { flag: text }, NACOS_NAMING_RULES)).toEqual({ flag: value })
  })
})

describe('texts', () => {
  test('one of several words, in exactly this case', () => {
    const search = Type.Enum(['accurate', 'blur'])
    expect(read({ search }, { search: 'blur' })).toEqual({ search: 'blur' })
    expect(refusalOf(() => read({ search }, { search: 'Blur' })).message).toBe(
      'search must be one of accurate, blur, but is "Blur".',
    )
    expect(read({ one: Type.Enum(['x']) }, { one: 'x' })).toEqual({ one: 'x' })
  })

  test('bytes of UTF-8 are counted, not characters', () => {
    const content = Type.String({ maxBytes: 9 })
    expect(read({ content }, { content: '中中中' })).toEqual({ content: '中中中' })
    expect(refusalOf(() => read({ content }, { content: '中中中a' })).message).toBe(
      'content must have at most 9 bytes of UTF-8, but has 10.',
    )
  })

  test('a text that is too long never reaches the pattern', () => {
    const name = Type.String({ maxLength: 10, pattern: '^(a+)+$' })
    // The pattern would not end on this text.
    expect(refusalOf(() => read({ name }, { name: `${'a'.repeat(1_000_000)}!` })).message).toContain(
      'at most 10 characters',
    )
  })

  test('a schema of no known type is a mistake of ours, found when the table is built', () => {
    expect(() => compileReader(Type.Object({ untyped: {} }), SVC_RULES)).toThrow(TypeError)
  })
})

test('whatever is sent, the answer is a value or a refusal', () => {
  const properties = {
    s: Type.String({ maxLength: 5, pattern: '^[a-z]+$' }),
    i: Type.Optional(Type.Integer({ minimum: 1 })),
    n: Type.Optional(Type.Number()),
    b: Type.Optional(Type.Boolean()),
  }
  const reader = compileReader(Type.Object(properties), SVC_RULES)
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('s', 'i', 'n', 'b'), fc.string({ unit: 'binary' })), (sent) => {
      try {
        const result = reader(new Map(Object.entries(sent)))
        expect(result['s']).toMatch(/^[a-z]{1,5}$/)
        if (result['i'] !== undefined) expect(Number.isSafeInteger(result['i'])).toBe(true)
      } catch (error) {
        expect(error).toBeInstanceOf(Refusal)
      }
    }),
  )
})
