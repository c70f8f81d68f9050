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
  swept,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { expireEmptyServices, forgetExpiredMetadata } from './housekeeping.ts'
import { deregisterInstance, modifyInstance } from './instance-commands.ts'
import { deleteMetadata, type MetadataBatch, updateMetadata } from './metadata-commands.ts'
import { registerInstance } from './register-instance.ts'
import { REMEMBERED_METADATA } from '../state/remembered-metadata.ts'

const EXPIRY_MS = 60_000
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

let state: State
beforeEach(() => void (state = livingState()))

function remember(metadata: Record<string, string>, weight?: number): void {
  const patch = { weight, enabled: undefined, metadata, maxMetadataBytes: 8_192 }
  carryOut(state, modifyInstance(target, patch), at(0))
}

function leave(ms: number): void {
  carryOut(state, deregisterInstance(target), at(ms))
}

function clean(ms: number): void {
  for (const command of forgetExpiredMetadata(livenessOf(state), ms - EXPIRY_MS))
    carryOut(state, command, at(ms))
}

function batchOf(commandOf: typeof updateMetadata, other: Partial<MetadataBatch>) {
  const facts = { serviceKey: ORDERS, consistencyType: undefined, instances: [], maxBytes: 8_192 }
  return commandOf({ ...facts, keys: { k: 'v' }, ...other })
}

/** Carries out a batch, and gives the ports of its instances. */
function batch(commandOf: typeof updateMetadata, other: Partial<MetadataBatch>): number[] {
  return carryOut(state, batchOf(commandOf, other), at(0)).map(({ record }) => record.address.port)
}

describe('remembered metadata', () => {
  test('overrides the registered one while the instance exists', () => {
    const instance = registered(state, { metadata: { a: '1', b: '2' } })
    remember({ b: 'kept' })
    carryOut(state, registerInstance(registration({ metadata: { b: '3', c: '4' } })), at(1))
    expect(instance.metadata).toEqual({ b: 'kept', c: '4' })
  })

  test('applies when the instance returns in time, and weight and enabled do not', () => {
    registered(state, { metadata: { a: '1' } })
    remember({ b: 'kept' }, 9)
    leave(10_000)
    clean(69_999)
    const back = registered(state, { metadata: { c: '2' } }, at(70_000))
    expect(back.metadata).toEqual({ c: '2', b: 'kept' })
    expect(back.record).toMatchObject({ weight: 1, enabled: true })
  })

  test('is forgotten after its time', () => {
    registered(state)
    remember({ b: 'kept' })
    leave(10_000)
    clean(70_000)
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    expect(registered(state).metadata).toEqual({})
  })

  test('does not age while the instance exists, and starts to age each time that it leaves', () => {
    registered(state)
    remember({ b: 'kept' })
    clean(500_000)
    leave(500_000)
    registered(state, {}, at(540_000))
    clean(700_000)
    leave(700_000)
    clean(750_000)
    expect(registered(state, {}, at(755_000)).metadata).toEqual({ b: 'kept' })
  })

  test('stays when its instance has expired or changed its kind', () => {
    registered(state)
    remember({ b: 'kept' })
    swept(state, 31_000)
    expect(state.instancesInAll).toBe(0)
    expect(registered(state, { ephemeral: false }, at(40_000)).metadata).toEqual({ b: 'kept' })
  })

  test('is kept if the instance returned, or left again, while the cleaning waited', () => {
    registered(state)
    remember({ b: 'kept' })
    leave(0)
    const late = forgetExpiredMetadata(livenessOf(state), 0)
    registered(state, {}, at(60_000))
    for (const command of late) carryOut(state, command, at(60_001))
    leave(60_002)
    for (const command of late) carryOut(state, command, at(60_003))
    expect(registered(state).metadata).toEqual({ b: 'kept' })
  })

  test('belongs to one cluster, service and namespace', () => {
    registered(state)
    remember({ b: 'kept' })
    expect(registered(state, { address: address({ cluster: 'c2' }) }).metadata).toEqual({})
    expect(registered(state, { serviceKey: { ...ORDERS, namespaceId: 'dev' } }).metadata).toEqual({})
  })

  test('accepts names of object properties', () => {
    const instance = registered(state)
    const names = '{"constructor":"a","__proto__":"b","toString":"c"}'
    remember(JSON.parse(names) as Record<string, string>)
    expect(JSON.stringify(instance.metadata)).toBe(names)
    batch(deleteMetadata, { consistencyType: 'ephemeral', keys: { toString: '' } })
    expect(Object.keys(instance.metadata)).toEqual(['constructor', '__proto__'])
  })
})

describe('a batch', () => {
  /** The instances 1 and 2 are ephemeral, 3 is persistent. */
  const registerSome = (): void => {
    for (const port of [1, 2, 3]) registered(state, { address: address({ port }), ephemeral: port < 3 })
  }
  const locator = (port: number, ephemeral = true) => ({ ...address({ port }), ephemeral })

  test.each([
    ['with a kind ignores the instances named: rules 1 to 3', 'ephemeral', [locator(3, false)], [1, 2]],
    ['with a kind ignores the instances named: rules 1 to 3', 'persist', [locator(1)], [3]],
    ['with any other word affects no instance: rule 4', 'persistent', [locator(1)], []],
    ['with no word affects no instance: rule 4', '', [locator(1)], []],
    [
      'without a kind affects the named instances that exist with their named kind',
      undefined,
      [locator(2), locator(3), locator(3, false), locator(4)],
      [2, 3],
    ],
    ['without a kind and without instances affects none', undefined, [], []],
  ])('%s (%s)', (...[, consistencyType, instances, ports]) => {
    registerSome()
    expect(batch(updateMetadata, { consistencyType, instances })).toEqual(ports)
  })

  test('of an unknown service affects no instance', () => {
    expect(batch(updateMetadata, { consistencyType: 'ephemeral' })).toEqual([])
  })

  test('merges by key, and its keys are remembered', () => {
    registerSome()
    batch(updateMetadata, { consistencyType: 'ephemeral', keys: { a: '1' } })
    batch(updateMetadata, { instances: [locator(1)], keys: { b: '2' } })
    const one = { ...target, address: address({ port: 1 }) }
    carryOut(state, deregisterInstance(one), at(0))
    expect(registered(state, { address: one.address }).metadata).toEqual({ a: '1', b: '2' })
  })

  test('that deletes removes keys, remembered or registered, for good', () => {
    const instance = registered(state, { metadata: { a: '1', b: '2', c: '3' } })
    remember({ b: 'over', d: '4' })
    const keys = { a: '', b: 'whatever', d: '' }
    expect(batch(deleteMetadata, { consistencyType: 'ephemeral', keys })).toEqual([80])
    expect(instance.metadata).toEqual({ c: '3' })
    expect([instance.healthy, state.recordCount(REMEMBERED_METADATA)]).toEqual([true, 0])
  })

  test('that deletes the last remembered key leaves no record', () => {
    registered(state)
    remember({ b: 'over' })
    const command = batchOf(deleteMetadata, { consistencyType: 'ephemeral', keys: { b: '' } })
    expect(command.decide(state, at(0)).changes.map(({ kind }) => kind)).toEqual(['record-removed'])
  })

  test('that exceeds the limit of one instance is refused as a whole', () => {
    registerSome()
    const large = { consistencyType: 'ephemeral', keys: { big: 'x'.repeat(200) }, maxBytes: 100 }
    expect(refusalOf(() => batch(updateMetadata, large))).toBe('invalid-parameter')
  })
})

describe('an empty service', () => {
  const expire = (ms: number) => {
    for (const command of expireEmptyServices(livenessOf(state), ms - EXPIRY_MS))
      carryOut(state, command, at(ms))
  }

  test('that a registration created is removed after its expiry', () => {
    registered(state)
    expire(100_000)
    leave(100_000)
    expire(159_999)
    expect(state.service(ORDERS)).toBeDefined()
    expire(160_000)
    expect(state.service(ORDERS)).toBeUndefined()
    expect(expireEmptyServices(livenessOf(state), 1e9)).toEqual([])
  })

  test('that was used meanwhile starts to age again, also while the cleaning waits', () => {
    registered(state)
    leave(0)
    const late = expireEmptyServices(livenessOf(state), 0)
    registered(state, {}, at(59_000))
    for (const command of late) carryOut(state, command, at(60_000))
    leave(60_001)
    for (const command of late) carryOut(state, command, at(60_002))
    expect(state.service(ORDERS)).toBeDefined()
  })

  test('the services that became empty first are found first, without a check of the others', () => {
    for (const [turn, name] of ['a', 'b', 'c'].entries()) {
      const serviceKey = { ...ORDERS, groupedName: `G@@${name}` }
      registered(state, { serviceKey })
      carryOut(state, deregisterInstance({ ...target, serviceKey }), at(turn * 1_000))
    }
    expire(61_000)
    expect(state.services.names('public', undefined)).toEqual(['G@@c'])
  })
})
