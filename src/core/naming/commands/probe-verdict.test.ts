import { expect, test } from 'vitest'
import { at, carryOut, livingState, ORDERS, registered } from '../../core.test-support.ts'
import { foundHealth } from './probe-verdict.ts'

test('the result of a probe is a change, unless the instance has changed since', () => {
  const state = livingState()
  const instance = registered(state, { ephemeral: false })
  const found = foundHealth(instance, false)
  expect(carryOut(state, found, at(0))).toBe(true)
  expect([...state.instances(ORDERS)].map(({ healthy }) => healthy)).toEqual([false])
  expect(carryOut(state, found, at(0))).toBe(false)
  const late = foundHealth(instance, true)
  registered(state, { ephemeral: false, weight: 2 })
  expect(carryOut(state, late, at(0))).toBe(false)
})
