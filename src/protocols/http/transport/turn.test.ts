import { setImmediate as nextTurn } from 'node:timers/promises'
import { beforeEach, expect, test } from 'vitest'
import { Turn } from './turn.ts'

let turn: Turn
let done: string[]
let nowMs: number
beforeEach(() => {
  nowMs = 0
  turn = new Turn(() => nowMs)
  done = []
})

/** Work that ends with something of its own, as a request does with its answer. */
function addWork(name: string): void {
  const ending = { run: () => done.push(`end ${name}`) }
  const run = () => {
    done.push(name)
    turn.end(ending)
  }
  turn.add({ run })
}

test('all work of a turn is done before any of it is ended', async () => {
  for (const name of ['a', 'b', 'c']) addWork(name)
  expect(done).toEqual([])
  await nextTurn()
  expect(done).toEqual(['a', 'b', 'c', 'end a', 'end b', 'end c'])
})

test('no more than 32 wait for each other', async () => {
  for (let number = 1; number <= 40; number++) addWork(String(number))
  await nextTurn()
  expect(done.indexOf('end 1')).toBe(32)
  expect(done.indexOf('end 32')).toBeLessThan(done.indexOf('33'))
  expect(done).toHaveLength(80)
})

test('a function for the end of all work runs at once without work', async () => {
  turn.end({ run: () => done.push('alone') })
  expect(done).toEqual(['alone'])
  addWork('a')
  await nextTurn()
  turn.end({ run: () => done.push('after') })
  expect(done).toEqual(['alone', 'a', 'end a', 'after'])
})

test('work that an ending adds belongs to the next turn', async () => {
  const run = () => turn.end({ run: () => addWork('late') })
  turn.add({ run })
  await nextTurn()
  expect(done).toEqual([])
  await nextTurn()
  expect(done).toEqual(['late', 'end late'])
})

test('after each long piece of work others have a turn', async () => {
  for (let name = 1; name <= 3; name++)
    turn.add({ bytes: 20_000, run: () => ((nowMs += 80), done.push(String(name))) })
  for (const expected of ['1', '2', '3']) {
    await nextTurn()
    expect(done.splice(0)).toEqual([expected])
  }
})

test('long work leaves a turn to others, and is done before later work', async () => {
  const addSlow = (name: number): void => turn.add({ run: () => ((nowMs += 3), done.push(String(name))) })
  for (let name = 1; name <= 10; name++) addSlow(name)
  await nextTurn()
  expect(done).toHaveLength(4)
  addSlow(11)
  await nextTurn()
  expect(done).toHaveLength(8)
  await nextTurn()
  expect(done.map(Number)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
})
