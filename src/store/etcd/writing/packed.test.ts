import { array, assert, integer, property, record } from 'fast-check'
import { expect, test } from 'vitest'
import { fits, packed } from './packed.ts'

const unit = (operations: number, bytes = 0, keys: string[] = []) => ({
  compare: [],
  keys,
  success: Array.from({ length: operations }),
  bytes,
})

test('few small units are one request', () => {
  expect(packed([unit(2), unit(3)])).toHaveLength(1)
})

test('units and the operations of the largest one are together at most 120', () => {
  const many = Array.from({ length: 200 }, () => unit(20))
  expect(packed(many).map((request) => request.length)).toEqual([100, 100])
})

test('a request has at most one MiB, unless a unit has more', () => {
  expect(packed([unit(1, 700_000), unit(1, 700_000), unit(1, 2_000_000)])).toHaveLength(3)
})

test('units that write one key are not in one request', () => {
  const units = [unit(1, 0, ['a']), unit(1, 0, ['b']), unit(1, 0, ['c', 'a']), unit(1, 0, ['d'])]
  expect(packed(units).map((request) => request.length)).toEqual([2, 2])
})

test('a unit that is too wide or too large fits no request', () => {
  expect([unit(119), unit(120), unit(1, 1_048_577)].map(fits)).toEqual([true, false, false])
})

test('every unit is in one request, in its order', () => {
  const any = record({
    operations: integer({ min: 0, max: 119 }),
    bytes: integer({ min: 0, max: 1_000_000 }),
  })
  assert(
    property(array(any), (units) => {
      const all = units.map(({ operations, bytes }) => unit(operations, bytes))
      expect(packed(all).flat()).toEqual(all)
    }),
  )
})
