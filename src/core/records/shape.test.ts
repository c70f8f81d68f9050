import { describe, expect, test } from 'vitest'
import { fieldsOf, number, numberIn, object, ShapeError, textIn } from './shape.ts'

const read = (json: string) => fieldsOf(JSON.parse(json))

describe('a number', () => {
  test('is read in a shape and in a single field', () => {
    expect(object({ size: number })(read('{"size":1.5}'))).toEqual({ size: 1.5 })
    expect(numberIn(read('{"size":1.5}'), 'size')).toBe(1.5)
  })

  test.each(['{"size":1e999}', '{"size":-1e999}', '{"size":"1"}', '{"size":null}', '{}'])(
    'is refused by both where it is none: %s',
    (json) => {
      const refused = new ShapeError('size must be a number')
      expect(() => object({ size: number })(read(json))).toThrow(refused)
      expect(() => numberIn(read(json), 'size')).toThrow(refused)
    },
  )
})

test('a text in a field is refused with the name of the field', () => {
  expect(textIn(read('{"name":"a"}'), 'name')).toBe('a')
  expect(() => textIn(read('{"name":1}'), 'name')).toThrow(new ShapeError('name must be a text'))
})
