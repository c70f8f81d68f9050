import { array, assert, constantFrom, double, integer, maxSafeInteger, oneof, property } from 'fast-check'
import { expect, test } from 'vitest'
import { firstStampOf, historyIdOf, isStamp, lastStampOf, msOf, Stamps } from './stamps.ts'

test('a stamp is the wall clock times 1,024 and tells its millisecond', () => {
  const stamp = new Stamps().next(1_800_000_000_000)
  expect([stamp, msOf(stamp)]).toEqual([1_800_000_000_000 * 1_024, 1_800_000_000_000])
  expect([firstStampOf(5), lastStampOf(5), firstStampOf(6)].map(msOf)).toEqual([5, 5, 6])
})

test('stamps rise whatever the wall clock does and whatever other stamps are seen', () => {
  assert(
    property(array(integer({ min: -50, max: 50 })), (steps) => {
      const stamps = new Stamps()
      let wallMs = 1_000
      let last = stamps.next(wallMs)
      for (const step of steps) {
        wallMs = Math.max(0, wallMs + step)
        if (step % 7 === 0) stamps.see((last += step * 3_000))
        const next = stamps.next(wallMs)
        expect(next).toBeGreaterThan(last)
        last = next
      }
    }),
  )
})

test('a wall clock that is far ahead makes no stamp whose ids are not exact', () => {
  const stamps = new Stamps()
  const wallMs = Date.UTC(2500, 0)
  let last = stamps.next(wallMs)
  expect(msOf(last)).toBe(Date.UTC(2100, 0))
  for (let decision = 0; decision < 5_000; decision++) {
    const next = stamps.next(wallMs)
    expect(next).toBeGreaterThan(last)
    last = next
  }
  expect(Number.isSafeInteger(historyIdOf(last))).toBe(true)
  expect(Number.isSafeInteger(historyIdOf(lastStampOf(Date.UTC(2109, 0))))).toBe(true)
})

test('after any numbers that others have written, the next stamps have a place in keys and values', () => {
  const largest = 4_233_196_339_200_000
  const known = constantFrom(
    largest - 1,
    largest,
    largest + 1,
    2 ** 52 - 1,
    2 ** 52,
    2 ** 53 - 1,
    Infinity,
    NaN,
  )
  assert(
    property(array(oneof(known, maxSafeInteger(), double())), integer({ min: 0 }), (numbers, wallMs) => {
      const stamps = new Stamps()
      for (const number of numbers) stamps.see(number)
      const first = stamps.next(wallMs)
      const second = stamps.next(wallMs)
      expect([isStamp(first), isStamp(second), second > first]).toEqual([true, true, true])
      expect(second).toBeLessThan(2 ** 52 - 2 ** 47)
    }),
  )
})
