import { expect, test } from 'vitest'
import { PacedWork } from './paced-work.ts'

function fixture(most: number) {
  let soon: (() => void)[] = []
  const done: number[] = []
  const work = new PacedWork({ soon: (run) => void soon.push(run) }, most)
  return {
    done,
    work,
    run: (...sizes: number[]) => sizes.forEach((size) => work.run(size, () => void done.push(size))),
    /** Takes a turn, and returns its work. */
    turn: (): number[] => {
      const [due, before] = [soon, done.length]
      soon = []
      for (const run of due) run()
      return done.slice(before)
    },
    get isIdle() {
      return soon.length === 0
    },
  }
}

test('does pieces that fit into the turn at once, and the rest in the next turns, in order', () => {
  const at = fixture(10)
  at.run(4, 5, 2, 1, 7, 3)
  expect(at.done).toEqual([4, 5])
  expect(at.work.waiting).toBe(4)
  expect([at.turn(), at.turn(), at.turn()]).toEqual([[2, 1, 7], [3], []])
  expect(at.isIdle).toBe(true)
  at.run(8)
  expect(at.done.at(-1)).toBe(8)
})

test('does a larger piece alone, and counts a piece of no size as one', () => {
  const at = fixture(3)
  at.run(50, 0, 0, 0, 0, 50)
  expect([at.done, at.turn(), at.turn(), at.turn()]).toEqual([[50, 0, 0, 0, 0, 50], [0, 0, 0], [0], [50]])
})

test('keeps the order of pieces that come meanwhile', () => {
  const at = fixture(10)
  at.run(10, 10)
  at.run(1)
  at.turn()
  at.run(2)
  at.turn()
  expect(at.done).toEqual([10, 10, 1, 2])
})
