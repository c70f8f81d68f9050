import { expect, test } from 'vitest'
import { type KeptAnswers, RecentAnswers, UNUSED } from './recent-answers.ts'

const kept = (): KeptAnswers => ({ bytes: 100, usedIn: UNUSED })

function recentAnswers(mostBytes: number) {
  const forgotten: KeptAnswers[] = []
  return { forgotten, recent: new RecentAnswers((one: KeptAnswers) => forgotten.push(one), mostBytes) }
}

test('answers that were not used lately are forgotten, answers in use stay', () => {
  const { recent, forgotten } = recentAnswers(500)
  const all = Array.from({ length: 100 }, kept)
  const hot = all[0]!
  for (const one of all) {
    recent.use(one, 0)
    recent.use(hot, 0)
  }
  const left = all.filter((one) => !forgotten.includes(one))
  expect(left).toContain(hot)
  expect(left.length * 100).toBeLessThanOrEqual(1_300)
  expect(left.at(-1)).toBe(all.at(-1))
})

test('nothing is forgotten while all fits', () => {
  const { recent, forgotten } = recentAnswers(100_000)
  const all = Array.from({ length: 400 }, kept)
  for (let round = 0; round < 10; round++) for (const one of all) recent.use(one, 0)
  expect(forgotten).toEqual([])
})

test('answers that grow count with their growth', () => {
  const { recent, forgotten } = recentAnswers(1_000)
  const [growing, other] = [kept(), kept()]
  recent.use(other, 0)
  for (let turn = 0; turn < 30; turn++) recent.use(growing, 100)
  expect(forgotten).toEqual([other])
})
