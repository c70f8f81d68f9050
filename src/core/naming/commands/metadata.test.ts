import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  refusalOf,
  registered,
  registration,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { expireEmptyServices, forgetExpiredMetadata } from './housekeeping.ts'
import { deregisterInstance, modifyInstance } from './instance-commands.ts'
import { deleteMetadata, type MetadataBatch, updateMetadata } from './metadata-commands.ts'
import { registerInstance } from './register-instance.ts'
import { REMEMBERED_METADATA } from '../state/remembered-metadata.ts'

const EXPIRY_MS = 60_000
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

function remember(state: State, metadata: Record<string, string>): void {
  const patch = { weight: 9, enabled: undefined, metadata, maxMetadataBytes: 8_192 }
  carryOut(state, modifyInstance(target, patch), at(0))
}

function leave(state: State, ms: number): void {
  carryOut(state, deregisterInstance(target), at(ms))
}

function clean(state: State, ms: number): void {
  for (const command of forgetExpiredMetadata(livenessOf(state), ms - EXPIRY_MS))
    carryOut(state, command, at(ms))
}

function batch(state: State, commandOf: typeof updateMetadata, other: Partial<MetadataBatch>): number[] {
  const command = commandOf({
    serviceKey: ORDERS,
    consistencyType: undefined,
    instances: [],
    keys: { k: 'v' },
    maxBytes: 8_192,
    ...other,
  })
  return carryOut(state, command, at(0)).map(({ record }) => record.address.port)
}

let state: State
beforeEach(() => void (state = livingState()))

describe('remembered metadata', () => {
  test('overrides the registered one while the instance exists', () => {
    const instance = registered(state, { metadata: { a: '1', b: '2' } })
    remember(state, { b: 'kept' })
    carryOut(state, registerInstance(registration({ metadata: { b: '3', c: '4' } })), at(1))
    expect(instance.metadata).toEqual({ b: 'kept', c: '4' })
  })

  test('applies when the instance returns in time, and weight and enabled do not', () => {
    registered(state, { metadata: { a: '1' } })
    remember(state, { b: 'kept' })
    leave(state, 10_000)
    clean(state, 69_999)
    const back = registered(state, { metadata: { c: '2' } }, at(70_000))
    expect(back.metadata).toEqual({ c: '2', b: 'kept' })
    expect(back.record).toMatchObject({ weight: 1, enabled: true })
  })

  test('is forgotten after its time', () => {
    registered(state)
    remember(state, { b: 'kept' })
    leave(state, 10_000)
    clean(state, 70_000)
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    expect(registered(state).metadata).toEqual({})
  })

  test('does not age while the instance exists, and starts to age each time that it leaves', () => {
    registered(state)
    remember(state, { b: 'kept' })
    clean(state, 500_000)
    leave(state, 500_000)
    registered(state, {}, at(540_000))
    clean(state, 700_000)
    leave(state, 700_000)
    clean(state, 750_000)
    expect(registered(state, {}, at(755_000)).metadata).toEqual({ b: 'kept' })
  })

  test('stays when its instance has expired or changed its kind', () => {
    registered(state)
    remember(state, { b: 'kept' })
    state.apply(
      livenessOf(state).sweep(at(31_000), () => true),
      at(31_000),
    )
    expect(state.instancesInAll).toBe(0)
    expect(registered(state, { ephemeral: false }, at(40_000)).metadata).toEqual({ b: 'kept' })
  })

  test('is kept if the instance returned, or left again, while the cleaning waited', () => {
    registered(state)
    remember(state, { b: 'kept' })
    leave(state, 0)
    const late = forgetExpiredMetadata(livenessOf(state), 0)
    registered(state, {}, at(60_000))
    for (const command of late) carryOut(state, command, at(60_001))
    leave(state, 60_002)
    for (const command of late) carryOut(state, command, at(60_003))
    expect(registered(state).metadata).toEqual({ b: 'kept' })
  })

  test('belongs to one cluster, service and namespace', () => {
    registered(state)
    remember(state, { b: 'kept' })
    expect(registered(state, { address: address({ cluster: 'c2' }) }).metadata).toEqual({})
    expect(registered(state, { serviceKey: { ...ORDERS, namespaceId: 'dev' } }).metadata).toEqual({})
  })

  test('accepts names of object properties', () => {
    const instance = registered(state)
    remember(
      state,
      JSON.parse('{"constructor":"a","__proto__":"b","toString":"c"}') as Record<string, string>,
    )
    expect(JSON.stringify(instance.metadata)).toBe('{"constructor":"a","__proto__":"b","toString":"c"}')
    batch(state, deleteMetadata, { consistencyType: 'ephemeral', keys: { toString: '' } })
    expect(Object.keys(instance.metadata)).toEqual(['constructor', '__proto__'])
  })
})

describe('a batch', () => {
  function some(): State {
    const state = livingState()
    registered(state, { address: address({ port: 1 }) })
    registered(state, { address: address({ port: 2 }) })
    registered(state, { address: address({ port: 3 }), ephemeral: false })
    return state
  }
  const locator = (port: number, ephemeral = true) => ({ ...address({ port }), ephemeral })

  test('with a kind ignores the instances named: rules 1 to 3', () => {
    expect(
      batch(some(), updateMetadata, { consistencyType: 'ephemeral', instances: [locator(3, false)] }),
    ).toEqual([1, 2])
    expect(batch(some(), updateMetadata, { consistencyType: 'persist', instances: [locator(1)] })).toEqual([
      3,
    ])
  })

  test('with any other word affects no instance: rule 4', () => {
    expect(batch(some(), updateMetadata, { consistencyType: 'persistent', instances: [locator(1)] })).toEqual(
      [],
    )
    expect(batch(some(), updateMetadata, { consistencyType: '', instances: [locator(1)] })).toEqual([])
  })

  test('without a kind affects the named instances that exist with their named kind', () => {
    const instances = [locator(2), locator(3), locator(3, false), locator(4)]
    expect(batch(some(), updateMetadata, { instances })).toEqual([2, 3])
    expect(batch(some(), updateMetadata, {})).toEqual([])
  })

  test('of an unknown service affects no instance', () => {
    expect(batch(livingState(), updateMetadata, { consistencyType: 'ephemeral' })).toEqual([])
  })

  test('merges by key, and its keys are remembered', () => {
    const state = some()
    batch(state, updateMetadata, { consistencyType: 'ephemeral', keys: { a: '1' } })
    batch(state, updateMetadata, { instances: [locator(1)], keys: { b: '2' } })
    const one = { ...target, address: address({ port: 1 }) }
    carryOut(state, deregisterInstance(one), at(0))
    expect(registered(state, { address: one.address }).metadata).toEqual({ a: '1', b: '2' })
  })

  test('that deletes removes keys, remembered or registered, for good', () => {
    const instance = registered(state, { metadata: { a: '1', b: '2', c: '3' } })
    remember(state, { b: 'over', d: '4' })
    expect(
      batch(state, deleteMetadata, { consistencyType: 'ephemeral', keys: { a: '', b: 'whatever', d: '' } }),
    ).toEqual([80])
    expect(instance.metadata).toEqual({ c: '3' })
    expect([instance.healthy, state.recordCount(REMEMBERED_METADATA)]).toEqual([true, 0])
  })

  test('that deletes the last remembered key leaves no record', () => {
    registered(state)
    remember(state, { b: 'over' })
    const keys = { b: '' }
    const command = deleteMetadata({
      serviceKey: ORDERS,
      consistencyType: 'ephemeral',
      instances: [],
      keys,
      maxBytes: 99,
    })
    expect(command.decide(state, at(0)).changes.map(({ kind }) => kind)).toEqual(['record-removed'])
  })

  test('that exceeds the limit of one instance is refused as a whole', () => {
    const state = some()
    const keys = { big: 'x'.repeat(200) }
    expect(
      refusalOf(() => batch(state, updateMetadata, { consistencyType: 'ephemeral', keys, maxBytes: 100 })),
    ).toBe('invalid-parameter')
  })
})

describe('an empty service', () => {
  const expire = (state: State, ms: number) => {
    for (const command of expireEmptyServices(livenessOf(state), ms - EXPIRY_MS))
      carryOut(state, command, at(ms))
  }

  test('that a registration created is removed after its expiry', () => {
    registered(state)
    expire(state, 100_000)
    leave(state, 100_000)
    expire(state, 159_999)
    expect(state.service(ORDERS)).toBeDefined()
    expire(state, 160_000)
    expect(state.service(ORDERS)).toBeUndefined()
    expect(expireEmptyServices(livenessOf(state), 1e9)).toEqual([])
  })

  test('that was used meanwhile starts to age again, also while the cleaning waits', () => {
    registered(state)
    leave(state, 0)
    const late = expireEmptyServices(livenessOf(state), 0)
    registered(state, {}, at(59_000))
    for (const command of late) carryOut(state, command, at(60_000))
    leave(state, 60_001)
    for (const command of late) carryOut(state, command, at(60_002))
    expect(state.service(ORDERS)).toBeDefined()
  })

  test('the services that became empty first are found first, without a check of the others', () => {
    for (const [turn, name] of ['a', 'b', 'c'].entries()) {
      const serviceKey = { ...ORDERS, groupedName: `G@@${name}` }
      registered(state, { serviceKey })
      carryOut(state, deregisterInstance({ ...target, serviceKey }), at(turn * 1_000))
    }
    expire(state, 61_000)
    expect(state.services.names('public', undefined)).toEqual(['G@@c'])
  })
})
