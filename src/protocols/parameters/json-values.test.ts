import { expect, test } from 'vitest'
import { JsonValues } from './json-values.ts'

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
