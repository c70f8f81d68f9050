import fc from 'fast-check'
import { expect, test } from 'vitest'
import { linePath } from './line-path.ts'

const FRAME = { most: 5, width: 100, height: 22 }

test('the newest value is at the right edge, zero at the bottom, and the highest at the top', () => {
  expect(linePath([0, 10, 5], FRAME).line).toBe('M50 21L75 1L100 11')
})

test('one value is a short line, none is nothing, and what is only zero lies at the bottom', () => {
  expect(linePath([3], FRAME).line).toBe('M75 1L100 1')
  expect(linePath([], FRAME)).toEqual({ line: '', area: '' })
  expect(linePath([0, 0], FRAME).line).toBe('M75 21L100 21')
})

test('every line stays inside its frame, whatever the values are', () => {
  const values = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), { minLength: 1, maxLength: 400 })
  fc.assert(
    fc.property(values, (all) => {
      const points = linePath(all, FRAME).line.slice(1).split('L')
      for (const point of points) {
        const [x, y] = point.split(' ').map(Number) as [number, number]
        expect(x >= 0 && x <= 100 && y >= 1 && y <= 21).toBe(true)
      }
    }),
  )
})
