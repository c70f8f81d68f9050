import { expect, test } from 'vitest'
import { ServiceEntry } from '../../core/naming/service-entry.ts'
import { type KeptAnswers, RecentAnswers, UNUSED } from './recent-answers.ts'

function entryWith(bytes: number): { entry: ServiceEntry; kept: KeptAnswers } {
  const entry = new ServiceEntry({} as never, 0)
  const kept = { bytes, usedIn: UNUSED }
  entry.answers = kept
  return { entry, kept }
}

test('what was not asked for of late is forgotten, what is in use stays', () => {
  const recent = new RecentAnswers(500)
  const all = Array.from({ length: 100 }, () => entryWith(100))
  const hot = all[0]!
  for (const { entry, kept } of all) {
    recent.use(entry, kept, 0)
    recent.use(hot.entry, hot.kept, 0)
  }
  const left = all.filter(({ entry }) => entry.answers !== undefined)
  expect(left).toContain(hot)
  expect(left.length * 100).toBeLessThanOrEqual(1_300)
  expect(left.at(-1)).toBe(all.at(-1))
})

test('nothing is forgotten while all fits', () => {
  const recent = new RecentAnswers(100_000)
  const all = Array.from({ length: 400 }, () => entryWith(100))
  for (let round = 0; round < 10; round++) for (const { entry, kept } of all) recent.use(entry, kept, 0)
  expect(all.every(({ entry }) => entry.answers !== undefined)).toBe(true)
})

test('one that was made anew after a change is not taken for the old one', () => {
  const recent = new RecentAnswers(1_000)
  const changed = entryWith(100)
  recent.use(changed.entry, changed.kept, 0)
  const fresh = { bytes: 100, usedIn: UNUSED }
  changed.entry.answers = fresh
  recent.use(changed.entry, fresh, 0)
  for (let round = 0; round < 5; round++) {
    const other = entryWith(100)
    recent.use(other.entry, other.kept, 0)
  }
  expect(changed.entry.answers).toBe(fresh)
})
