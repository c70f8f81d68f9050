import { expect, test } from 'vitest'
import { HealthStreak } from './health-streak.ts'

const up = { outcome: 'up', reason: '' } as const
const down = { outcome: 'down', reason: '' } as const
const downNow = { outcome: 'down-now', reason: '' } as const

test('the health changes after checkTimes equal results in a row', () => {
  const streak = new HealthStreak(true)
  expect([down, down, down, down].map((found) => streak.count(found, 3))).toEqual([
    undefined,
    undefined,
    false,
    undefined,
  ])
  expect([up, up, up, up].map((found) => streak.count(found, 3))).toEqual([
    undefined,
    undefined,
    true,
    undefined,
  ])
})

test('an opposite result resets the count', () => {
  const streak = new HealthStreak(true)
  const reported = [down, down, up, down, down, down].map((found) => streak.count(found, 3))
  expect(reported).toEqual([undefined, undefined, undefined, undefined, undefined, false])
})

test('a refused connection changes the health at once, and only once', () => {
  const streak = new HealthStreak(true)
  expect(streak.count(downNow, 3)).toBe(false)
  expect(streak.count(downNow, 3)).toBeUndefined()
})

test('checkTimes of 1 or less changes the health with each result', () => {
  const streak = new HealthStreak(true)
  expect(streak.count(down, 1)).toBe(false)
  expect(streak.count(up, 0)).toBe(true)
})

test('a health that is set from outside resets the count', () => {
  const streak = new HealthStreak(true)
  streak.count(down, 3)
  streak.count(down, 3)
  streak.set(false)
  streak.set(true)
  expect(streak.count(down, 3)).toBeUndefined()
})
