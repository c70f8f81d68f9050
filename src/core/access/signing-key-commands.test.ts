import { beforeEach, expect, test } from 'vitest'
import { at, carryOut, WALL_MS } from '../core.test-support.ts'
import { State } from '../engine/state.ts'
import { SIGNING_KEY, latestLeak } from './access-records.ts'
import { createFirstKey, removeOldKeys, rotateKeys } from './signing-key-commands.ts'

const secret = 's'

/** The keys, with the ms after the start of the test until which they verify. */
function keysOf(state: State): (readonly [id: string, untilMs: number | null])[] {
  return Array.from(state.records(SIGNING_KEY), ([id, { verifiesUntilMs }]) => [
    id,
    verifiesUntilMs === null ? null : verifiesUntilMs - WALL_MS,
  ])
}

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

test('the first key is made once', () => {
  carryOut(state, createFirstKey({ id: 'a', secret }), at(0))
  carryOut(state, createFirstKey({ id: 'b', secret }), at(0))
  expect(keysOf(state)).toEqual([['a', null]])
})

test('a replaced key verifies until its last token has expired, and then it is removed', () => {
  carryOut(state, createFirstKey({ id: 'a', secret }), at(0))
  carryOut(state, rotateKeys({ id: 'b', secret }, { ttlMs: 1_000 }), at(0))
  expect(keysOf(state)).toEqual([
    ['a', 1_000],
    ['b', null],
  ])
  carryOut(state, removeOldKeys(), at(999))
  expect(keysOf(state)).toHaveLength(2)
  carryOut(state, removeOldKeys(), at(1_000))
  carryOut(state, removeOldKeys(), at(1_001))
  expect(keysOf(state)).toEqual([['b', null]])
})

test('a rotation lets no key verify longer than before, and removes the keys that no longer verify', () => {
  carryOut(state, createFirstKey({ id: 'a', secret }), at(0))
  carryOut(state, rotateKeys({ id: 'b', secret }, { ttlMs: 1_000 }), at(0))
  carryOut(state, rotateKeys({ id: 'c', secret }, { ttlMs: 1_000 }), at(500))
  expect(keysOf(state)).toEqual([
    ['a', 1_000],
    ['b', 1_500],
    ['c', null],
  ])
  carryOut(state, rotateKeys({ id: 'd', secret }, { ttlMs: 1_000 }), at(1_200))
  expect(keysOf(state).map(([id]) => id)).toEqual(['b', 'c', 'd'])
})

test('a rotation without any time ends the other keys at once', () => {
  carryOut(state, createFirstKey({ id: 'a', secret }), at(0))
  carryOut(state, rotateKeys({ id: 'b', secret }, { ttlMs: 5_000 }), at(0))
  carryOut(state, rotateKeys({ id: 'c', secret }, 'leaked'), at(1))
  expect(keysOf(state)).toEqual([
    ['a', 1],
    ['b', 1],
    ['c', null],
  ])
})

test('a hundred keys verify at most: the oldest go, and a rotation changes no key without need', () => {
  for (let key = 0; key < 150; key++)
    carryOut(state, rotateKeys({ id: `k${key}`, secret }, { ttlMs: 3_600_000 }), at(0))
  expect(state.recordCount(SIGNING_KEY)).toBe(100)
  expect(state.record(SIGNING_KEY, 'k49')).toBeUndefined()
  expect(state.record(SIGNING_KEY, 'k50')).toBeDefined()
  const { changes } = rotateKeys({ id: 'next', secret }, { ttlMs: 3_600_000 }).decide(state, at(0))
  expect(changes.map((change) => 'id' in change && change.id)).toEqual(['k149', 'k50', 'next'])
})

test('a leak is remembered by the keys that are made later, also when the leaked key is gone', () => {
  const stampOf = (id: string) => state.record(SIGNING_KEY, id)!.createdStamp
  carryOut(state, createFirstKey({ id: 'a', secret }), at(0))
  carryOut(state, rotateKeys({ id: 'b', secret }, { ttlMs: 1_000 }), at(0))
  expect(latestLeak(state)).toBe(0)
  carryOut(state, rotateKeys({ id: 'c', secret }, 'leaked'), at(1))
  expect(latestLeak(state)).toBe(stampOf('c'))
  for (const [id, ms] of Object.entries({ d: 2, e: 10_000, f: 20_000 }))
    carryOut(state, rotateKeys({ id, secret }, { ttlMs: 1 }), at(ms))
  carryOut(state, removeOldKeys(), at(30_000))
  expect(keysOf(state)).toEqual([['f', null]])
  expect(latestLeak(state)).toBeGreaterThan(0)
  expect(latestLeak(state)).toBeLessThan(stampOf('f'))
})
