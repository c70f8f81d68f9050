import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FirstEntries } from './first-entries.ts'

const byNumber = (a: number, b: number) => a - b

/** Others have their turn all the time. */
const BUSY = { isDue: true, turn: () => Promise.resolve(true) }

test('the first entries equal the beginning of the sorted list', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.integer(), { maxLength: 500 }),
      fc.integer({ min: 1, max: 50 }),
      async (all, most) => {
        const first = new FirstEntries<number>(most, byNumber)
        for (const one of all) first.add(one)
        expect(await first.sorted(BUSY)).toEqual(all.toSorted(byNumber).slice(0, most))
        expect(first.count).toBe(all.length)
      },
    ),
  )
})

test('so are very many, which are sorted in slices', async () => {
  for (const count of [0, 1, 999, 1_000, 2_001, 7_777]) {
    const all = Array.from({ length: count }, (_, index) => (index * 7_919) % 5_003)
    const first = new FirstEntries<number>(5_000, byNumber)
    for (const one of all) first.add(one)
    expect(await first.sorted(BUSY)).toEqual(all.toSorted(byNumber).slice(0, 5_000))
  }
})
