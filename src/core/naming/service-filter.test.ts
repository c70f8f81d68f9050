import { describe, expect, test } from 'vitest'
import { ORDERS, registered, WALL_MS, at, carryOut, address } from '../core.test-support.ts'
import { State } from '../state.ts'
import { updateService } from './service-commands.ts'
import { conditionsOfExpression, meetsConditions } from './service-filter.ts'

const shop = { protectThreshold: undefined, metadata: { team: 'shop' }, selector: undefined }

describe('the expression of a service list', () => {
  test.each([
    ['', []],
    ["INSTANCE.metadata.zone = 'a'", [{ scope: 'INSTANCE', key: 'zone', value: 'a' }]],
    ["SERVICE.metadata.a.b='x & y = z'", [{ scope: 'SERVICE', key: 'a.b', value: 'x & y = z' }]],
    ['INSTANCE.metadata.zone=a', [{ scope: 'INSTANCE', key: 'zone', value: 'a' }]],
    [
      " INSTANCE.metadata.zone = 'a' & SERVICE.metadata.team = '' ",
      [
        { scope: 'INSTANCE', key: 'zone', value: 'a' },
        { scope: 'SERVICE', key: 'team', value: '' },
      ],
    ],
  ])('%j is read', (expression, conditions) => {
    expect(conditionsOfExpression(expression)).toEqual(conditions)
  })

  test.each([
    'zone = a',
    "INSTANCE.metadata. = 'a'",
    "INSTANCE.metadata.zone = 'a' &",
    "INSTANCE.metadata.zone = 'a' SERVICE.metadata.team = 'b'",
    "CLUSTER.metadata.zone = 'a'",
    "INSTANCE.metadata.zone = 'a",
    Array.from({ length: 9 }, () => 'INSTANCE.metadata.zone=a').join('&'),
    'x'.repeat(5_000),
  ])('%j is refused', (expression) => {
    expect(() => conditionsOfExpression(expression)).toThrow(/selector\.expression/)
  })
})

test('a service meets conditions by its own metadata and by one of its instances', () => {
  const state = new State(WALL_MS)
  registered(state, { metadata: { zone: 'a', rack: '1' } })
  registered(state, { address: address({ port: 81 }), metadata: { zone: 'b', rack: '2' } })
  carryOut(state, updateService(ORDERS, shop), at(0))
  const meets = (expression: string) =>
    meetsConditions(state.services.get(ORDERS)!, conditionsOfExpression(expression))
  expect(meets('INSTANCE.metadata.zone=b')).toBe(true)
  expect(meets('INSTANCE.metadata.zone=c')).toBe(false)
  expect(meets('INSTANCE.metadata.zone=a & INSTANCE.metadata.rack=1')).toBe(true)
  expect(meets('INSTANCE.metadata.zone=a & INSTANCE.metadata.rack=2')).toBe(false)
  expect(meets('SERVICE.metadata.team=shop & INSTANCE.metadata.zone=a')).toBe(true)
  expect(meets('SERVICE.metadata.team=other')).toBe(false)
  expect(meets('SERVICE.metadata.constructor=x')).toBe(false)
})
