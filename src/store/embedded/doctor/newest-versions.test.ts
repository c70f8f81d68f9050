import { expect, test } from 'vitest'
import { deletion, item, name, outcomeOf, revision, sums } from './fake-rows.test-support.ts'
import { missingVersions, newestByName } from './newest-versions.ts'

const ROWS = [
  name(1),
  item(1, 11),
  revision(1, 11),
  revision(1, 13, { prevId: 11 }),
  name(2),
  item(2, 21),
  revision(2, 21),
]

function missing(
  current: Readonly<Record<number, number>>,
  inIndex: readonly (readonly [number, number])[] = [],
) {
  const { inventory } = outcomeOf([...ROWS, sums(current)])
  const rows = {
    *read() {},
    *namesInIndex() {},
    newestInIndex: (nameId: number) => new Map(inIndex).get(nameId) ?? 0,
  }
  return missingVersions(rows, inventory, newestByName(inventory))
}

test('the newest revision of a name is known, in whatever order they come', () => {
  const rows = [deletion(1, 15, 13), revision(1, 13, { prevId: 11 }), revision(1, 11)]
  expect(newestByName(outcomeOf(rows).inventory).get(1)?.id).toBe(15)
})

test('nothing is missing if the sums fit the newest versions', () => {
  expect(missing({ 1: 13, 2: 21 })).toEqual({ known: new Map(), suspected: [], more: false })
})

test('one missing version is known by the sums alone', () => {
  expect(missing({ 1: 15, 2: 21 }).known).toEqual(new Map([[1, 15]]))
})

test('several missing versions are known by the index', () => {
  const found = missing({ 1: 15, 2: 23 }, [
    [1, 15],
    [2, 23],
  ])
  expect(found).toEqual({
    known: new Map([
      [1, 15],
      [2, 23],
    ]),
    suspected: [],
    more: false,
  })
})

test('an item that neither the sums nor the index can name is suspected', () => {
  const found = missing({ 1: 15, 2: 27 }, [[2, 21]])
  expect([found.more, found.suspected]).toEqual([true, [1]])
})
