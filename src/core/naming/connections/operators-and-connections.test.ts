import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  refusalOf,
  registered,
  registration,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { beat } from '../liveness/beat.ts'
import { connectionPublisher } from '../state/connection-publisher.ts'
import { forgetExpiredMetadata } from '../commands/housekeeping.ts'
import {
  deregisterInstance,
  type InstancePatch,
  modifyInstance,
  modifyOrRegister,
} from '../commands/instance-commands.ts'
import type { Instance } from '../state/service-entry.ts'
import { deleteMetadata } from '../commands/metadata-commands.ts'
import { REMEMBERED_METADATA } from '../state/remembered-metadata.ts'
import { replaceInstances } from '../commands/replace-instances.ts'

const [ONE, TWO] = ['1', '2'].map((connectionId) => connectionPublisher({ process: 'p', connectionId }))
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

let state: State
beforeEach(() => void (state = livingState()))

function publish(publisher = ONE!, weight = 1, ms = 0): Instance {
  return registered(state, { publisher, weight, metadata: { a: '1' } }, at(ms))
}

function leave(publisher = ONE!, ms = 0): void {
  const about = { serviceKey: ORDERS, publisher, instances: [], leaving: [address()] }
  carryOut(state, replaceInstances({ ...about, takesOver: true, isGoodbye: false }), at(ms))
}

function modify(patch: Partial<InstancePatch>): void {
  const nothing = { weight: undefined, enabled: undefined, metadata: undefined, maxMetadataBytes: 100 }
  carryOut(state, modifyInstance(target, { ...nothing, ...patch }), at(0))
}

describe('a setting of an operator for an instance of a connection', () => {
  test('holds at once', () => {
    const instance = publish()
    modify({ weight: 5, enabled: false, metadata: { b: '2' } })
    expect(instance).toMatchObject({
      record: { weight: 5, enabled: false, publisher: ONE },
      metadata: { a: '1', b: '2' },
    })
  })

  test('holds when its client connects again, also where that takes the address over', () => {
    publish()
    modify({ enabled: false })
    leave()
    expect(publish(TWO).record).toMatchObject({ enabled: false, weight: 1 })
    modify({ weight: 3 })
    expect(publish(ONE, 7).record).toMatchObject({ enabled: false, weight: 3 })
    modify({ enabled: true })
    leave()
    expect(publish(TWO, 7).record).toMatchObject({ enabled: true, weight: 3 })
  })

  test('makes a registration that repeats the stored one no change', () => {
    publish()
    modify({ enabled: false, weight: 2 })
    const about = { serviceKey: ORDERS, publisher: ONE!, leaving: [], takesOver: true, isGoodbye: false }
    const again = registration({ metadata: { a: '1' } })
    expect(replaceInstances({ ...about, instances: [again] }).decide(state, at(1)).changes).toEqual([])
  })

  test('does not hold over a registration of a client that beats', () => {
    publish()
    modify({ enabled: false, weight: 2 })
    expect(registered(state).record).toMatchObject({ enabled: true, weight: 1 })
    modify({ enabled: false })
    expect(registered(state).record.enabled).toBe(true)
  })

  test('is kept when the last key of the metadata is removed', () => {
    publish()
    modify({ enabled: false, metadata: { b: '2' } })
    const batch = { serviceKey: ORDERS, consistencyType: 'ephemeral', instances: [], maxBytes: 100 }
    carryOut(state, deleteMetadata({ ...batch, keys: { b: '' } }), at(0))
    leave()
    expect(publish(TWO)).toMatchObject({ record: { enabled: false }, metadata: { a: '1' } })
  })

  test('is forgotten with the metadata, when the instance was away for long', () => {
    publish()
    modify({ enabled: false })
    leave(ONE, 1_000)
    for (const command of forgetExpiredMetadata(livenessOf(state), 1_000))
      carryOut(state, command, at(61_000))
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    expect(publish(TWO).record.enabled).toBe(true)
  })

  test('survives a restart', () => {
    const value = { serviceKey: ORDERS, address: address(), metadata: {}, weight: 2, enabled: false }
    expect(REMEMBERED_METADATA.decode(JSON.parse(JSON.stringify(value)), '')).toEqual(value)
    const { weight: _weight, enabled: _enabled, ...other } = value
    expect(REMEMBERED_METADATA.decode(JSON.parse(JSON.stringify(other)), '')).toEqual(other)
  })
})

describe('over HTTP, an instance of a connection', () => {
  test('is known to a beat, which changes nothing', () => {
    const instance = publish()
    const result = beat(beatPartsOf(state), { serviceKey: ORDERS, ...address() }, at(1))
    expect(result).toEqual({ kind: 'renewed', instances: [instance], healed: [], moved: [] })
  })

  test('stays when somebody else deregisters it, unless its server is gone', () => {
    const leaves = (fate: 'kept' | 'refused' | 'removed') =>
      carryOut(
        state,
        deregisterInstance(target, () => fate),
        at(0),
      )
    publish()
    expect(leaves('kept')).toBe('ok')
    expect(refusalOf(() => leaves('refused'))).toBe('instance-connected')
    expect(state.instancesInAll).toBe(1)
    leaves('removed')
    expect(state.instancesInAll).toBe(0)
    registered(state)
    leaves('refused')
    expect(state.instancesInAll).toBe(0)
  })

  test('is modified, and not registered again', () => {
    const instance = publish()
    const patch = { weight: 4, enabled: undefined, metadata: undefined, maxMetadataBytes: 100 }
    carryOut(state, modifyOrRegister(target, patch), at(0))
    expect(instance.record).toMatchObject({ weight: 4, publisher: ONE })
  })
})
