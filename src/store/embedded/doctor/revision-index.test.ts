import { expect, test } from 'vitest'
import { RevisionIndex, type RevisionNote } from './revision-index.ts'

const OPS = ['I', 'U', 'D'] as const

function note(id: number): RevisionNote {
  const op = OPS[id % 3] ?? 'I'
  return {
    id,
    nameId: id % 7,
    itemId: id * 2,
    prevId: id - 1,
    op,
    hidden: id % 2 === 0,
    hasContent: id % 5 > 0,
  }
}

test('revisions are found as they were added, also beyond the first capacity', () => {
  const index = new RevisionIndex()
  for (let id = 1; id <= 5_000; id += 2) expect(index.add(note(id))).toBe(true)
  for (const id of [1, 3, 1_023, 2_047, 2_049, 4_999]) expect(index.find(id)).toEqual(note(id))
  expect(index.find(2)).toBeUndefined()
  expect(index.find(5_001)).toBeUndefined()
  expect(index.size).toBe(2_500)
})

test('ids as large as stamps are kept exactly', () => {
  const index = new RevisionIndex()
  const large = 2 ** 52 + 1
  index.add(note(large))
  expect(index.find(large)).toEqual(note(large))
})

test('revisions out of order are found too, and come last', () => {
  const index = new RevisionIndex()
  for (const id of [5, 9, 7, 3, 11]) index.add(note(id))
  expect(index.find(7)).toEqual(note(7))
  expect([...index.all()].map(({ id }) => id)).toEqual([5, 9, 11, 7, 3])
})

test('a second revision with the same id is refused, and the first one stays', () => {
  const index = new RevisionIndex()
  for (const id of [5, 9, 7]) index.add(note(id))
  for (const id of [5, 9, 7]) expect(index.add({ ...note(id), nameId: 99 })).toBe(false)
  expect(index.find(9)?.nameId).toBe(2)
  expect(index.size).toBe(3)
})
