import { assert, array, integer, property } from 'fast-check'
import { expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  EngineWorld,
  ORDERS,
  refusalOf,
  registered,
  registration,
  WALL_MS,
} from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { registerInstance } from './register-instance.ts'
import { raiseLists } from './raise-lists.ts'

const AHEAD_MS = 30_000
const refOf = (state: State) => state.services.get(ORDERS)?.lastRefMs ?? 0

test('all lists are later than the lists of the other server, and stay so', () => {
  const state = new State(WALL_MS)
  registered(state)
  carryOut(state, raiseLists(WALL_MS + AHEAD_MS), at(0))
  expect([refOf(state), state.services.floorMs].map((ms) => ms >= WALL_MS + AHEAD_MS)).toEqual([true, true])
  registered(state, { address: address({ port: 81 }) }, at(60_000))
  expect(refOf(state)).toBeGreaterThanOrEqual(WALL_MS + 60_000 + AHEAD_MS)
})

test('a clock that is behind changes nothing, and one that is years ahead is refused', () => {
  const state = new State(WALL_MS)
  registered(state)
  const before = refOf(state)
  carryOut(state, raiseLists(WALL_MS - 1_000), at(0))
  expect(refusalOf(() => carryOut(state, raiseLists(WALL_MS + 4e10), at(0)))).toBe('invalid-parameter')
  expect([refOf(state), state.listsAheadMs]).toEqual([before, 0])
})

test('lists never go back, in whatever order servers are moved and instances register', () => {
  assert(
    property(array(integer({ min: -5_000, max: 90_000 }), { maxLength: 20 }), (steps) => {
      const state = new State(WALL_MS)
      let seen = 0
      let latestMs = 0
      for (const [index, aheadMs] of steps.entries()) {
        const clockMs = WALL_MS + index * 1_000 + aheadMs
        latestMs = Math.max(latestMs, aheadMs)
        carryOut(state, raiseLists(clockMs), at(index * 1_000))
        registered(state, { weight: index + 2 }, at(index * 1_000))
        expect(refOf(state)).toBeGreaterThan(seen)
        expect(refOf(state)).toBeGreaterThanOrEqual(WALL_MS + index * 1_000 + latestMs)
        seen = refOf(state)
      }
    }),
  )
})

test('the stamps of changes stay at the clock', async () => {
  const world = new EngineWorld()
  world.start(registerInstance(registration()))
  world.start(raiseLists(world.nowMs + WALL_MS + AHEAD_MS))
  await world.quiet()
  world.start(registerInstance(registration({ address: address({ port: 81 }) })))
  await world.quiet()
  expect(refOf(world.state)).toBeGreaterThanOrEqual(WALL_MS + AHEAD_MS)
  const stamps = world.published.flatMap((change) => ('stamp' in change ? [change.stamp] : []))
  expect(Math.max(...stamps) / 1_024).toBeLessThan(WALL_MS + world.nowMs + 1_000)
})
