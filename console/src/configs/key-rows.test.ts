import { expect, test } from 'vitest'
import { keyRows } from './key-rows.ts'

test('keys of several texts are in one table, and say where they differ', () => {
  const texts = [
    new Map([
      ['b', '1'],
      ['a', 'x'],
    ]),
    new Map([['a', 'x']]),
    new Map([
      ['a', 'x'],
      ['b', '1'],
    ]),
  ]
  expect(keyRows(texts)).toEqual([
    { key: 'a', values: ['x', 'x', 'x'], differs: false },
    { key: 'b', values: ['1', undefined, '1'], differs: true },
  ])
  expect(keyRows([])).toEqual([])
})
