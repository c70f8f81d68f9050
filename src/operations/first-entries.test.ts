import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FirstEntries } from './first-entries.ts'

const byNumber = (a: number, b: number) => a - b

test('the first entries are those of the sorted list', () => {
  fc.assert(
    fc.property(fc.array(fc.integer(), { maxLength: 500 }), fc.integer({ min: 1, max: 50 }), (all, most) => {
      const first = new FirstEntries<number>(most, byNumber)
      for (const one of all) first.add(one)
      expect(first.sorted()).toEqual(all.toSorted(byNumber).slice(0, most))
      expect(first.count).toBe(all.length)
    }),
  )
})
