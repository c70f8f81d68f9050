import { describe, expect, test } from 'vitest'
import { deletion, item, name, outcomeOf, revision, sums } from './fake-rows.test-support.ts'
import type { AnyRow } from './store-rows.ts'

/** The items a and b: a has the versions 11 and 13, b has 21. */
const A = [name(1), item(1, 11), revision(1, 11), revision(1, 13, { prevId: 11 })]
const B = [name(2), item(2, 21), revision(2, 21)]
const SOUND = [...A, ...B, sums({ 1: 13, 2: 21 })]
const without = (...gone: readonly (AnyRow | undefined)[]) => SOUND.filter((row) => !gone.includes(row))

/** The version in the row of each item that is copied, by its name's number. */
function versionsIn(rows: readonly AnyRow[]): Record<number, number> {
  const versions: Record<number, number> = {}
  for (const { table, row } of rows) if (table === 'config_item') versions[row.nameId] = row.revisionId
  return versions
}

test('items that stand at their newest versions are sound, and copied as they are', () => {
  const { findings, copied } = outcomeOf(SOUND)
  expect(findings).toEqual([])
  // The sums are computed.
  expect(copied).toEqual([...A, ...B])
})

test('an item that was deleted, and a name that cleaning left, are sound', () => {
  const deleted = [name(3), revision(3, 31), deletion(3, 33, 31), name(4)]
  expect(outcomeOf([...SOUND, ...deleted]).findings).toEqual([])
})

describe('an item', () => {
  test('without its row loses its versions, but not the versions before an earlier deletion', () => {
    const rows = without(A[1]).filter((row) => row.table !== 'meta')
    const again = [deletion(1, 15, 13), revision(1, 17, { itemId: 101 }), sums({ 1: 17, 2: 21 })]
    const { findings, copied } = outcomeOf([...rows, ...again])
    expect(findings).toMatchObject([
      { place: 'item public/g/a', problem: expect.stringContaining('has no row of it') },
    ])
    expect(copied).toEqual([...rows, again[0]])
    expect(outcomeOf(without(A[1])).copied).toEqual([A[0], ...B])
  })

  test('that has lost its newest version is named by the index, and falls back to the one before', () => {
    const index = {
      revisionsInIndex: [
        [1, 11],
        [1, 13],
        [2, 21],
      ] as const,
    }
    const { findings, copied } = outcomeOf(without(A[3]), index)
    expect(findings).toMatchObject([
      { place: 'item public/g/a', problem: 'Its current version 13 is missing.' },
    ])
    expect(versionsIn(copied)).toEqual({ 1: 11, 2: 21 })
  })

  test('that has lost its newest version is found by the sums if the index has lost it as well', () => {
    const { findings } = outcomeOf(without(A[3]))
    expect(findings.map(({ problem }) => problem)).toEqual(['Its current version 13 is missing.'])
  })

  test('that has lost all of its versions is lost', () => {
    const { findings, copied } = outcomeOf(without(A[2], A[3]))
    expect(findings[0]).toMatchObject({ place: 'item public/g/a', leavesOut: 'The item is left out.' })
    expect(versionsIn(copied)).toEqual({ 2: 21 })
  })

  test.each([
    ['has no content', { prevId: 21, content: null }],
    ['is not one of its own', { itemId: 999 }],
  ])('whose newest version %s gets the newest one that is its own', (problem, other) => {
    const { findings, leftOut, copied } = outcomeOf([...SOUND, revision(2, 23, other)])
    expect(findings.map((finding) => finding.problem)).toContain(`Its current version 23 ${problem}.`)
    expect([leftOut.versions, versionsIn(copied)]).toEqual([new Set([23]), { 1: 11, 2: 21 }])
  })

  test('of which only the name is left is named if rows of items and versions are broken', () => {
    const { findings } = outcomeOf([...SOUND, name(3)], { broken: ['config_item', 'config_revision'] })
    expect(findings.map(({ place }) => place)).toContain('item public/g/c')
  })
})

describe('the sums of current versions', () => {
  test('that are missing are reported, and the versions that are there are kept', () => {
    const { findings, copied } = outcomeOf([...A, ...B])
    expect(findings).toMatchObject([{ place: 'waypost.db, table meta, row current_versions' }])
    expect(versionsIn(copied)).toEqual({ 1: 11, 2: 21 })
  })

  test('that miss more than can be named suspect the items that the index has lost', () => {
    const index = { revisionsInIndex: [[2, 21]] as const }
    const { findings } = outcomeOf([...A, ...B, sums({ 1: 15, 2: 27 })], index)
    expect(findings.map(({ place }) => place)).toEqual([
      'waypost.db, tables config_item and config_revision',
      'item public/g/a',
    ])
  })
})
