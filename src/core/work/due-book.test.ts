import { assert, property, array, integer, oneof, record, constant } from 'fast-check'
import { expect, test } from 'vitest'
import { DueBook, NOT_DUE, type Due } from './due-book.ts'

interface Named extends Due {
  readonly name: number
}

const item = (name: number): Named => ({ name, dueTick: NOT_DUE })

test('an item is found at its time, not before, and at most one bucket late', () => {
  const book = new DueBook<Named>(100)
  const early = item(1)
  const late = item(2)
  book.add(early, 1_000)
  book.add(late, 1_001)
  expect(book.due(999)).toEqual([])
  expect(book.due(1_000)).toEqual([early])
  expect(book.due(1_099)).toEqual([])
  expect(book.due(1_100)).toEqual([late])
  expect(book.size).toBe(0)
})

test('an item that is added after its time is due within a bucket', () => {
  const book = new DueBook<Named>(100)
  book.due(5_000)
  const passed = item(1)
  book.add(passed, 10)
  expect(book.due(5_099)).toEqual([])
  expect(book.due(5_100)).toEqual([passed])
})

test('a call returns at most as many items as asked for, and the next calls return the rest', () => {
  const book = new DueBook<Named>(100)
  const items = [1, 2, 3, 4, 5].map(item)
  for (const [index, one] of items.entries()) book.add(one, index < 3 ? 100 : 200)
  expect(book.due(250, 2)).toEqual(items.slice(0, 2))
  expect([book.hasMore, book.size]).toEqual([true, 3])
  book.remove(items[2]!)
  book.add(items[0]!, 260)
  expect(book.due(250, 2)).toEqual([items[3], items[4]])
  expect(book.due(250, 2)).toEqual([])
  expect([book.hasMore, book.size]).toEqual([false, 1])
  expect(book.due(300)).toEqual([items[0]])
})

test('a removed item is not found, and a moved item is found once', () => {
  const book = new DueBook<Named>(100)
  const gone = item(1)
  const moved = item(2)
  book.add(gone, 100)
  book.add(moved, 100)
  book.remove(gone)
  book.remove(gone)
  book.add(moved, 300)
  book.add(moved, 100)
  expect(book.size).toBe(1)
  expect(book.due(1_000)).toEqual([moved])
})

test('a renewed item is added again by the caller that finds it', () => {
  const book = new DueBook<Named>(100)
  const renewed = item(1)
  book.add(renewed, 100)
  for (const found of book.due(100)) book.add(found, 250)
  expect(book.due(250)).toEqual([])
  expect(book.due(300)).toEqual([renewed])
})

test('after a long jump of the clock, all items are returned in the order of their times', () => {
  const book = new DueBook<Named>(10)
  const items = [5, 3, 9, 1].map(item)
  for (const each of items) book.add(each, each.name * 1_000)
  expect(book.due(1e12).map((each) => each.name)).toEqual([1, 3, 5, 9])
})

test('items that are added and removed do not accumulate', () => {
  const book = new DueBook<Named>(100)
  let reads = 0
  const counted = (name: number): Named => {
    let tick = NOT_DUE
    return {
      name,
      get dueTick() {
        reads++
        return tick
      },
      set dueTick(to) {
        tick = to
      },
    }
  }
  const flapping = counted(0)
  for (let turn = 0; turn < 100_000; turn++) book.add(flapping, turn % 2 === 0 ? 1_000 : 2_000)
  for (let turn = 0; turn < 100_000; turn++) {
    const passing = counted(turn)
    book.add(passing, 1_000)
    book.remove(passing)
  }
  expect(book.size).toBe(1)
  reads = 0
  expect(book.due(2_000)).toHaveLength(1)
  expect(reads).toBeLessThan(100)
})

// Quadratic time is minutes: the test does not end in time.
test('a million items are added and found', () => {
  const book = new DueBook<Named>(1_000)
  const items = Array.from({ length: 1_000_000 }, (_, name) => item(name))
  for (const each of items) book.add(each, each.name % 15_000)
  let found = 0
  for (let nowMs = 0; nowMs <= 15_000; nowMs += 1_000) found += book.due(nowMs).length
  expect(found).toBe(1_000_000)
})

test('whatever the order of adds and removes, each item is found once, in its bucket', () => {
  const step = oneof(
    record({
      kind: constant('add' as const),
      name: integer({ min: 0, max: 9 }),
      atMs: integer({ min: 0, max: 900 }),
    }),
    record({ kind: constant('remove' as const), name: integer({ min: 0, max: 9 }) }),
    record({ kind: constant('pass' as const), ms: integer({ min: 0, max: 60 }) }),
  )
  assert(
    property(array(step, { maxLength: 200 }), (steps) => {
      const book = new DueBook<Named>(50)
      const items = Array.from({ length: 10 }, (_, name) => item(name))
      const expected = new Map<Named, number>()
      let nowMs = 0
      const look = () => {
        for (const found of book.due(nowMs)) {
          const dueMs = expected.get(found)
          expect(dueMs).toBeDefined()
          expect(nowMs).toBeGreaterThanOrEqual(dueMs ?? 0)
          expected.delete(found)
        }
        for (const dueMs of expected.values()) expect(nowMs - dueMs).toBeLessThan(50)
      }
      for (const each of steps) {
        if (each.kind === 'pass') {
          nowMs += each.ms
          look()
          continue
        }
        const one = items[each.name] as Named
        if (each.kind === 'add') {
          book.add(one, each.atMs)
          expected.set(one, Math.max(each.atMs, nowMs))
        } else {
          book.remove(one)
          expected.delete(one)
        }
        expect(book.size).toBe(expected.size)
      }
    }),
  )
})
