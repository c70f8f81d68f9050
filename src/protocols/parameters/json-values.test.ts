import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonValues } from './json-values.ts'
import { compileReader, type ParameterValues } from './parameter-reader.ts'
import { NACOS_NAMING_RULES, Type } from './schema.ts'

test.each([
  [{ a: 'text' }, 'text'],
  [{ a: 7.5 }, '7.5'],
  [{ a: false }, 'false'],
  [{ a: '' }, undefined],
  [{ a: null }, undefined],
  [{}, undefined],
  [JSON.parse('{"__proto__":{"a":"x"}}'), undefined],
])('the member a of %j is %j', (object, text) => {
  expect(new JsonValues(object).get('a')).toBe(text)
})

test('a key that an object lacks is taken from the next one', () => {
  const values = new JsonValues({ a: 'first', b: null, c: '' }, { a: 'second', b: 'second', c: 'second' })
  expect(['a', 'b', 'c', 'toString'].map((name) => values.get(name))).toEqual([
    'first',
    'second',
    'second',
    undefined,
  ])
})

test.each([[['x']], [{ x: 1 }]])('%j is refused where a text is expected', (value) => {
  expect(() => new JsonValues({ a: value }).get('a')).toThrow(
    expect.objectContaining({
      code: 'invalid-parameter',
      facts: expect.objectContaining({ parameter: 'a' }),
    }),
  )
})

test('numbers and booleans are read as their texts are', () => {
  const schema = Type.Object({
    port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535 })),
    weight: Type.Optional(Type.Number({ minimum: 0, maximum: 10_000 })),
    enabled: Type.Optional(Type.Boolean()),
  })
  const read = compileReader(schema, NACOS_NAMING_RULES)
  const outcomeOf = (values: ParameterValues): unknown => {
    try {
      return read(values)
    } catch (error) {
      return String(error)
    }
  }
  const special = fc.constantFrom(-0, 0, 1, 65_535, 65_536, 1e-7, 1e21, '7', 'true', '', null)
  const value = fc.oneof(special, fc.boolean(), fc.integer({ max: 70_000 }), fc.double(), fc.jsonValue())
  const object = fc.record({ port: value, weight: value, enabled: value }, { requiredKeys: [] })
  fc.assert(
    fc.property(object, (one) => {
      const values = new JsonValues(one)
      expect(outcomeOf(values)).toEqual(outcomeOf({ get: (name) => values.get(name) }))
    }),
    { numRuns: 2_000 },
  )
})
