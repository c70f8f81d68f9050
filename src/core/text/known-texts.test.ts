import { expect, test } from 'vitest'
import { KnownTexts } from './known-texts.ts'

test('the result for a text is known until there are too many', () => {
  const known = new KnownTexts<number>({ longest: 5, most: 2 })
  expect(known.get('one')).toBeUndefined()
  expect(known.keep('one', 1)).toBe(1)
  expect(known.keep('two', 2)).toBe(2)
  expect([known.get('one'), known.get('two')]).toEqual([1, 2])
  known.keep('three', 3)
  expect([known.get('one'), known.get('two'), known.get('three')]).toEqual([undefined, undefined, 3])
})

test('a text that is too long is not remembered', () => {
  const known = new KnownTexts<number>({ longest: 5, most: 2 })
  expect(known.keep('longer', 1)).toBe(1)
  expect(known.get('longer')).toBeUndefined()
})
