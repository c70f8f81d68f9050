import { describe, expect, test } from 'vitest'
import { VersionSums } from './current-versions.ts'

describe('the sums of current versions', () => {
  test('come to the same by any way', () => {
    const sums = new VersionSums()
    sums.move(1, 0, 3)
    sums.move(2, 0, 5)
    sums.move(1, 3, 7)
    sums.move(2, 5, 0)
    expect(sums.equals(VersionSums.of([{ nameId: 1, revisionId: 7 }]))).toBe(true)
    expect(sums.equals(VersionSums.of([{ nameId: 7, revisionId: 1 }]))).toBe(false)
  })

  test('are exact whatever the ids, and read as written', () => {
    const ids = [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER - 2]
    const sums = VersionSums.of(ids.map((revisionId) => ({ nameId: 50_000_000, revisionId })))
    expect(VersionSums.parse(sums.toString())?.equals(sums)).toBe(true)
    const lower = sums.copy()
    lower.move(50_000_000, 2, 0)
    expect(lower.equals(sums)).toBe(false)
  })

  test.each(['', '1', '1 ', '-1 2', '1 2 3', 'a b', '1.5 2'])('are not read from "%s"', (text) => {
    expect(VersionSums.parse(text)).toBeUndefined()
  })

  test('name the one item that has lost its newest revision, and no other', () => {
    const items = Array.from({ length: 1_000 }, (_, at) => ({ nameId: at + 1, revisionId: at * 10 + 3 }))
    const sums = VersionSums.of(items)
    const back = (...nameIds: number[]) =>
      items.map((item) =>
        nameIds.includes(item.nameId) ? { ...item, revisionId: item.revisionId - 2 } : item,
      )
    expect(sums.oneLater(back(700))).toEqual({ nameId: 700, revisionId: 6_993 })
    expect(sums.oneLater(items)).toBeUndefined()
    expect(sums.oneLater(back(700, 702))).toBeUndefined()
    expect(VersionSums.of(back(700)).oneLater(items)).toBeUndefined()
  })

  test('differ in the second one where the first is the same', () => {
    const both = [1, 2].map((first) =>
      VersionSums.of([
        { nameId: 1, revisionId: first },
        { nameId: 2, revisionId: 3 - first },
      ]),
    )
    expect(both[0]?.equals(both[1]!)).toBe(false)
  })
})
