import { array, assert, boolean, constantFrom, double, integer, property, record } from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  refusalOf,
  registered,
  WALL_MS,
} from '../../core.test-support.ts'
import { State } from '../../engine/state.ts'
import { labelsOfExpression } from './label-selector.ts'
import { type InstanceQuery, isProtecting, selectInstances } from './select-instances.ts'
import { updateService } from '../commands/service-commands.ts'
import type { Selector } from './service.ts'

const ALL: InstanceQuery = { clusters: [], healthyOnly: false, consumer: undefined }

function entryOf(state: State) {
  const entry = state.services.get(ORDERS)
  if (entry === undefined) throw new Error('no such service')
  return entry
}

function update(state: State, settings: { protectThreshold?: number; selector?: Selector }): void {
  const { protectThreshold, selector } = settings
  carryOut(state, updateService(ORDERS, { protectThreshold, selector, metadata: undefined }), at(0))
}

/** The ports of the selected instances. */
function portsOf(state: State, query: Partial<InstanceQuery> = {}): number[] {
  return selectInstances(entryOf(state), { ...ALL, ...query }).instances.map(
    ({ record }) => record.address.port,
  )
}

test('disabled instances are never listed, and unhealthy ones unless healthyOnly is set', () => {
  const state = new State(WALL_MS)
  registered(state, { address: address({ port: 1 }) })
  registered(state, { address: address({ port: 2 }), enabled: false })
  registered(state, { address: address({ port: 3 }), healthy: false })
  expect(portsOf(state)).toEqual([1, 3])
  expect(portsOf(state, { healthyOnly: true })).toEqual([1])
})

test('a list has the named clusters, or all if none is named', () => {
  const state = new State(WALL_MS)
  registered(state, { address: address({ port: 1 }) })
  registered(state, { address: address({ port: 2, cluster: 'b' }) })
  registered(state, { address: address({ port: 3, cluster: 'c' }) })
  expect(portsOf(state)).toEqual([1, 2, 3])
  expect(portsOf(state, { clusters: ['b', 'DEFAULT'] })).toEqual([1, 2])
  expect(portsOf(state, { clusters: ['none'] })).toEqual([])
})

describe('the protection threshold', () => {
  test('follows its rule for any instances', () => {
    const instance = record({ healthy: boolean(), enabled: boolean(), cluster: constantFrom('a', 'b') })
    const threshold = constantFrom(0, 0.25, 0.3, 0.5, 0.6, 0.7, 1)
    const clusters = constantFrom<string[]>([], ['a'], ['b', 'a'])
    assert(
      property(array(instance, { maxLength: 12 }), threshold, clusters, boolean(), (...story) => {
        const [instances, protectThreshold, wanted, healthyOnly] = story
        const state = new State(WALL_MS)
        registered(state, { enabled: false })
        update(state, { protectThreshold })
        for (const [at, { cluster, ...other }] of instances.entries()) {
          registered(state, { address: address({ port: 1_000 + at, cluster }), ...other })
        }
        const asked = instances.filter(
          ({ enabled, cluster }) => enabled && (wanted.length === 0 || wanted.includes(cluster)),
        )
        const healthy = asked.filter((one) => one.healthy)
        const share = healthy.length / asked.length
        const protecting = protectThreshold > 0 && share <= protectThreshold && healthy.length < asked.length
        const expected = protecting || !healthyOnly ? asked : healthy
        const selection = selectInstances(entryOf(state), { ...ALL, clusters: wanted, healthyOnly })
        expect(selection.protecting).toBe(protecting)
        expect(selection.instances.map(({ record: one }) => one.address.port)).toEqual(
          expected.map((one) => 1_000 + instances.indexOf(one)),
        )
      }),
    )
  })

  test('is reached by an equal share, for every share', () => {
    assert(
      property(integer({ min: 1, max: 1_000 }), integer({ min: 1, max: 1_000 }), (one, other) => {
        const [healthy, all] = [Math.min(one, other), Math.max(one, other) + 1]
        expect(isProtecting(healthy / all, { healthy, all })).toBe(true)
      }),
    )
    expect(isProtecting(0.29, { healthy: 29, all: 100 })).toBe(true)
    expect(isProtecting(0.29, { healthy: 30, all: 100 })).toBe(false)
  })

  test('never triggers at 0, with all healthy, or without instances', () => {
    expect(isProtecting(0, { healthy: 0, all: 5 })).toBe(false)
    assert(
      property(double({ min: 0, max: 1, noNaN: true }), integer({ min: 0, max: 50 }), (threshold, all) => {
        expect(isProtecting(threshold, { healthy: all, all })).toBe(false)
      }),
    )
  })
})

describe('a selector by label', () => {
  const consumer = (state: State, ip: string) => ({
    consumer: { ip, labelsOf: (where: string) => state.labelsAt(where, ORDERS.namespaceId) },
  })
  const label = (...names: string[]): Selector => ({
    type: 'label',
    expression: names.map((name) => `CONSUMER.label.${name} = PROVIDER.label.${name}`).join(' & '),
  })

  function zones(selector: Selector): State {
    const state = livingState()
    registered(state, { address: address({ ip: '10.0.0.1', port: 1 }), metadata: { zone: 'a', rack: '1' } })
    registered(state, { address: address({ ip: '10.0.0.2', port: 2 }), metadata: { zone: 'b', rack: '1' } })
    registered(state, { address: address({ ip: '10.0.0.3', port: 3 }) })
    update(state, { selector })
    const web = { ...ORDERS, groupedName: 'DEFAULT_GROUP@@web' }
    registered(state, {
      serviceKey: web,
      address: address({ ip: '10.0.0.9' }),
      metadata: { zone: 'a', rack: '1' },
    })
    registered(state, { serviceKey: web, address: address({ ip: '10.0.0.3' }), metadata: { zone: 'a' } })
    registered(state, { serviceKey: web, address: address({ ip: '10.0.0.8' }), metadata: { zone: 'c' } })
    return state
  }

  test('lists instances whose own label, or a label at their address, equals the consumer’s', () => {
    const state = zones(label('zone'))
    expect(portsOf(state, consumer(state, '10.0.0.9'))).toEqual([1, 3])
    expect(portsOf(state, consumer(state, '10.0.0.2'))).toEqual([2])
  })

  test('requires every label of the expression', () => {
    const state = zones(label('zone', 'rack'))
    expect(portsOf(state, consumer(state, '10.0.0.9'))).toEqual([1])
  })

  test('lists all if the consumer has no such labels, if none matches, and without a consumer', () => {
    const state = zones(label('zone'))
    expect(portsOf(state, consumer(state, '10.0.0.77'))).toEqual([1, 2, 3])
    expect(portsOf(state, consumer(state, '10.0.0.8'))).toEqual([1, 2, 3])
    expect(portsOf(state)).toEqual([1, 2, 3])
  })

  test('does not see labels of other namespaces', () => {
    const state = zones(label('zone'))
    const elsewhere = { ...ORDERS, namespaceId: 'dev' }
    registered(state, {
      serviceKey: elsewhere,
      address: address({ ip: '10.0.0.5' }),
      metadata: { zone: 'b' },
    })
    expect(portsOf(state, consumer(state, '10.0.0.5'))).toEqual([1, 2, 3])
  })

  test('sees labels that come, change and go after they were first asked for', () => {
    const state = zones(label('zone'))
    portsOf(state, consumer(state, '10.0.0.9'))
    const web = { ...ORDERS, groupedName: 'DEFAULT_GROUP@@web' }
    registered(state, { serviceKey: web, address: address({ ip: '10.0.0.9' }), metadata: { zone: 'b' } })
    expect(portsOf(state, consumer(state, '10.0.0.9'))).toEqual([2])
    const inWeb = ({ groupedName }: { groupedName: string }) => groupedName === web.groupedName
    state.apply(livenessOf(state).sweep(at(60_000), inWeb), at(60_000))
    expect(portsOf(state, consumer(state, '10.0.0.9'))).toEqual([1, 2, 3])
  })

  test('knows a label by a name that every object has only where it was given', () => {
    const state = zones(label('constructor'))
    expect(portsOf(state, consumer(state, '10.0.0.9'))).toEqual([1, 2, 3])
    registered(state, { address: address({ ip: '10.0.0.4', port: 4 }), metadata: { constructor: 'x' } })
    expect(portsOf(state, consumer(state, '10.0.0.4'))).toEqual([4])
  })

  test('takes part before the protection threshold', () => {
    const state = zones(label('zone'))
    update(state, { protectThreshold: 0.5 })
    registered(state, {
      address: address({ ip: '10.0.0.1', port: 1 }),
      metadata: { zone: 'a' },
      healthy: false,
    })
    const selection = selectInstances(entryOf(state), {
      ...ALL,
      healthyOnly: true,
      ...consumer(state, '10.0.0.9'),
    })
    expect(selection.protecting).toBe(true)
    expect(selection.instances.map(({ record: one }) => one.address.port).sort()).toEqual([1, 3])
  })

  test.each([
    ['CONSUMER.label.a = PROVIDER.label.a', ['a']],
    ['CONSUMER.label.a=PROVIDER.label.a&CONSUMER.label.b-1 = PROVIDER.label.b-1', ['a', 'b-1']],
  ])('reads %s', (expression, names) => expect(labelsOfExpression(expression)).toEqual(names))

  test.each([
    '',
    '&',
    'CONSUMER.label.a = PROVIDER.label.b',
    'PROVIDER.label.a = CONSUMER.label.a',
    'CONSUMER.label.a = PROVIDER.label.a &',
    'a'.repeat(5_000),
  ])('refuses %s', (expression) =>
    expect(refusalOf(() => labelsOfExpression(expression))).toBe('invalid-parameter'),
  )
})
