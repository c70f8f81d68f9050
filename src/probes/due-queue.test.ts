import fc from 'fast-check'
import { expect, test } from 'vitest'
import { DueQueue, type QueueEntry } from './due-queue.ts'

const entryAt = (dueMs: number): QueueEntry => ({ dueMs, place: -1 })

function drain(queue: DueQueue<QueueEntry>): number[] {
  const taken: number[] = []
  for (let entry = queue.takeDue(Infinity); entry !== undefined; entry = queue.takeDue(Infinity))
    taken.push(entry.dueMs)
  return taken
}

const ascending = (times: number[]): number[] => times.toSorted((a, b) => a - b)

test('no entry is taken before it is due', () => {
  const queue = new DueQueue<QueueEntry>()
  queue.add(entryAt(10))
  expect(queue.takeDue(9)).toBeUndefined()
  expect(queue.takeDue(10)?.dueMs).toBe(10)
  expect(queue.takeDue(10)).toBeUndefined()
})

test('entries are taken in the order of their times, for any order of adds and removes', () => {
  const entries = fc.array(fc.record({ dueMs: fc.integer({ min: 0, max: 50 }), removed: fc.boolean() }))
  fc.assert(
    fc.property(entries, (planned) => {
      const queue = new DueQueue<QueueEntry>()
      const added = planned.map((plan) => ({ ...plan, place: -1 }))
      for (const entry of added) queue.add(entry)
      for (const entry of added) if (entry.removed) queue.remove(entry)
      const left = added.filter((entry) => !entry.removed)
      expect(queue.size).toBe(left.length)
      expect(drain(queue)).toEqual(ascending(left.map((entry) => entry.dueMs)))
    }),
  )
})

test('entries are taken in the order of their new times after a reschedule', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 1000 })), (times) => {
      const queue = new DueQueue<QueueEntry>()
      for (const time of times) queue.add(entryAt(time))
      queue.reschedule((entry) => (entry.dueMs * 7919) % 1009)
      expect(drain(queue)).toEqual(ascending(times.map((time) => (time * 7919) % 1009)))
    }),
  )
})

test('removing an entry that is not in the queue does nothing', () => {
  const queue = new DueQueue<QueueEntry>()
  const entry = entryAt(1)
  queue.add(entry)
  queue.remove(entry)
  queue.remove(entry)
  expect(queue.size).toBe(0)
})
