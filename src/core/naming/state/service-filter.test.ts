import { describe, expect, test } from 'vitest'
import { ORDERS, registered, WALL_MS, at, carryOut, address } from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { updateService } from '../commands/service-commands.ts'
import { conditionsOfExpression, meetsConditions } from './service-filter.ts'

const shop = { protectThreshold: undefined, metadata: { team: 'shop' }, selector: undefined }

describe('the expression of a service list', () => {
  test.each([
    ['', []],
    ["INSTANCE.metadata.zone = 'a'", [{ scope: 'INSTANCE', keys: ['zone'], value: 'a' }]],
    ["INSTANCE.label.zone = 'a'", [{ scope: 'INSTANCE', keys: ['zone'], value: 'a' }]],
    ["INSTANCE.zone = 'a'", [{ scope: 'INSTANCE', keys: ['zone'], value: 'a' }]],
    ["SERVICE.metadata.a.b='x & y = z'", [{ scope: 'SERVICE', keys: ['a.b', 'b'], value: 'x & y = z' }]],
    ["INSTANCE . label\t. zone = ' a . b '", [{ scope: 'INSTANCE', keys: ['zone'], value: ' a . b ' }]],
    ['INSTANCE.label.zone = a b', [{ scope: 'INSTANCE', keys: ['zone'], value: 'ab' }]],
    ['INSTANCE.metadata.zone=a', [{ scope: 'INSTANCE', keys: ['zone'], value: 'a' }]],
    [
      " INSTANCE.metadata.zone = 'a' & SERVICE.some.more.words.team = '' ",
      [
        { scope: 'INSTANCE', keys: ['zone'], value: 'a' },
        { scope: 'SERVICE', keys: ['more.words.team', 'team'], value: '' },
      ],
    ],
  ])('%j is read', (expression, conditions) => {
    expect(conditionsOfExpression(expression)).toEqual(conditions)
  })

  test.each([
    'zone = a',
    "INSTANCE = 'a'",
    "INSTANCE.metadata. = 'a'",
    "INSTANCE.metadata.zone = 'a' &",
    "INSTANCE.metadata.zone = 'a' SERVICE.metadata.team = 'b'",
    "CLUSTER.metadata.zone = 'a'",
    "INSTANCE.metadata.zone = 'a",
    "INSTANCE.metadata.zone = 'a' 'b'",
    "INSTANCE.metadata.zone == 'a'",
    "INSTANCE.metadata.zone in ('a')",
    '   ',
    Array.from({ length: 9 }, () => 'INSTANCE.metadata.zone=a').join('&'),
    'x'.repeat(5_000),
  ])('%j cannot be read, and is ignored', (expression) => {
    expect(conditionsOfExpression(expression)).toEqual([])
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
  expect(meets('INSTANCE.label.zone=b')).toBe(true)
  expect(meets('INSTANCE.label.zone=c')).toBe(false)
  expect(meets('unreadable')).toBe(true)
  expect(meets('SERVICE.metadata.team=other')).toBe(false)
  expect(meets('SERVICE.metadata.constructor=x')).toBe(false)
})
