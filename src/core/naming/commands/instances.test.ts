import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  lastBeatMs,
  livingState,
  ORDERS,
  refusalOf,
  registered,
  registration,
  WALL_MS,
} from '../../core.test-support.ts'
import { setSwitch } from '../../operator/set-switch.ts'
import { State } from '../../engine/state.ts'
import { BEATS, OPERATOR } from '../state/instance.ts'
import { deregisterInstance, type InstancePatch, modifyInstance, setHealth } from './instance-commands.ts'
import { registerInstance } from './register-instance.ts'
import { saveCluster } from './service-commands.ts'

const target = (ephemeral?: boolean) => ({ serviceKey: ORDERS, address: address(), ephemeral })
const patch = (other: Partial<InstancePatch>): InstancePatch => ({
  weight: undefined,
  enabled: undefined,
  metadata: undefined,
  maxMetadataBytes: 100,
  ...other,
})

let state: State
beforeEach(() => void (state = new State(WALL_MS)))

describe('registering', () => {
  test('is healthy by default, and otherwise as the request says', () => {
    expect(registered(state).healthy).toBe(true)
    expect(registered(state, { address: address({ port: 81 }), healthy: false }).healthy).toBe(false)
  })

  test('creates a service that is removed when it is empty', () => {
    registered(state)
    expect(state.service(ORDERS)).toMatchObject({ madeBy: 'registration', protectThreshold: 0, metadata: {} })
  })

  test('again replaces weight, enabled, metadata and app, and is only a beat if nothing differs', () => {
    const state = livingState()
    const instance = registered(state, { metadata: { a: '1', b: '2' } })
    const serial = instance.record.serial
    expect(carryOut(state, registerInstance(registration({ metadata: { b: '2', a: '1' } })), at(1))).toBe(
      'known',
    )
    const input = registration({ weight: 2, enabled: false, metadata: { c: '3' }, app: 'web' })
    expect(carryOut(state, registerInstance(input), at(2_000))).toBe('registered')
    expect([instance.metadata, lastBeatMs(state, instance)]).toEqual([{ c: '3' }, 2_000])
    expect(instance.record).toMatchObject({ serial, weight: 2, enabled: false, app: 'web' })
    expect(state.instancesInAll).toBe(1)
  })

  test('makes an ephemeral instance healthy, and keeps the health of a persistent one', () => {
    registered(state, { healthy: false })
    expect(registered(state).healthy).toBe(true)
    const lasting = { address: address({ port: 81 }), ephemeral: false }
    registered(state, { ...lasting, healthy: false })
    expect(registered(state, { ...lasting, weight: 3 }).healthy).toBe(false)
  })

  test('as the other kind replaces it, durably', () => {
    registered(state)
    const lasting = registerInstance(registration({ ephemeral: false }))
    expect(lasting.decide(state, at(0)).durability).toBe('synced')
    carryOut(state, lasting, at(0))
    expect([...state.instances(ORDERS)].map(({ record }) => record.ephemeral)).toEqual([false])
    expect(registerInstance(registration()).decide(state, at(0)).durability).toBe('synced')
  })

  test('without a connection is published by beats, a persistent instance by an operator', () => {
    expect(registered(state).record.publisher).toBe(BEATS)
    const persistent = registered(state, { address: address({ port: 81 }), ephemeral: false })
    expect(persistent.record.publisher).toBe(OPERATOR)
  })

  test('an address twice makes one instance, which belongs to the later publisher', () => {
    const [one, two] = ['1', '2'].map((id) => ({ kind: 'connection', id }) as const)
    const instance = registered(state, { publisher: one })
    for (const publisher of [two, BEATS, one]) {
      const command = registerInstance(registration({ publisher }))
      expect(carryOut(state, command, at(1))).toBe('registered')
      expect(carryOut(state, command, at(2))).toBe('known')
      expect(instance.record.publisher).toEqual(publisher)
    }
    expect(state.instancesInAll).toBe(1)
    carryOut(state, modifyInstance(target(), patch({ weight: 2 })), at(3))
    expect(instance.record.publisher).toEqual(one)
  })

  test('without a kind follows the switch', () => {
    expect(registered(state, { ephemeral: undefined }).record.ephemeral).toBe(true)
    carryOut(state, setSwitch('defaultInstanceEphemeral', 'false', true), at(0))
    expect(registered(state, { ephemeral: undefined, address: address({ port: 81 }) }).record.ephemeral).toBe(
      false,
    )
  })

  test('of a new instance is refused while disableAddIP is on', () => {
    registered(state)
    carryOut(state, setSwitch('disableAddIP', 'true', true), at(0))
    expect(registered(state, { weight: 7 }).record.weight).toBe(7)
    expect(refusalOf(() => registered(state, { address: address({ port: 81 }) }))).toBe('adding-disabled')
  })

  test('the same ip and port in another cluster is another instance', () => {
    registered(state)
    registered(state, { address: address({ cluster: 'c2' }) })
    expect(state.instanceCount(ORDERS)).toBe(2)
  })
})

describe('deregistering', () => {
  test('answers ok also for an unknown instance', () => {
    expect(carryOut(state, deregisterInstance(target()), at(0))).toBe('ok')
    registered(state)
    const elsewhere = { ...target(), address: address({ cluster: 'other' }) }
    expect(carryOut(state, deregisterInstance(elsewhere), at(0))).toBe('ok')
    expect(state.instancesInAll).toBe(1)
  })

  test('matches the named kind, or both', () => {
    registered(state, { ephemeral: false })
    carryOut(state, deregisterInstance(target(true)), at(0))
    expect(state.instancesInAll).toBe(1)
    carryOut(state, deregisterInstance(target()), at(0))
    expect(state.instancesInAll).toBe(0)
  })
})

describe('modifying', () => {
  test('changes the named fields, keeps the others, merges metadata by key and is no beat', () => {
    const state = livingState()
    const instance = registered(state, { metadata: { a: '1', b: '2' }, weight: 3, app: 'web' })
    carryOut(state, modifyInstance(target(), patch({ metadata: { b: 'new', c: '4' } })), at(5_000))
    expect(instance.metadata).toEqual({ a: '1', b: 'new', c: '4' })
    carryOut(state, modifyInstance(target(true), patch({ enabled: false })), at(5_000))
    expect(instance.record).toMatchObject({
      weight: 3,
      enabled: false,
      app: 'web',
      registered: { a: '1', b: '2' },
    })
    expect([lastBeatMs(state, instance), instance.healthy]).toEqual([0, true])
  })

  test('of an unknown instance, or one of the other kind, is refused', () => {
    const modify = (ephemeral?: boolean) =>
      refusalOf(() => carryOut(state, modifyInstance(target(ephemeral), patch({ weight: 2 })), at(0)))
    expect(modify()).toBe('instance-not-found')
    registered(state)
    expect([modify(), modify(true), modify(false)]).toEqual([undefined, undefined, 'instance-not-found'])
  })

  test('to more metadata than an instance may have is refused, and changes nothing', () => {
    const instance = registered(state, { metadata: { a: 'x'.repeat(60) } })
    const input = patch({ weight: 9, metadata: { b: 'y'.repeat(60) } })
    expect(refusalOf(() => carryOut(state, modifyInstance(target(), input), at(0)))).toBe('invalid-parameter')
    expect(instance.record.weight).toBe(1)
    carryOut(state, modifyInstance(target(), patch({ metadata: { a: 'y'.repeat(70) } })), at(0))
    expect(instance.metadata['a']).toBe('y'.repeat(70))
  })
})

describe('setting the health', () => {
  const none = {
    name: 'DEFAULT',
    healthChecker: { type: 'NONE' } as const,
    checkPort: 80,
    useInstancePort4Check: true,
    metadata: {},
  }

  test('works only if the cluster is not checked', () => {
    const set = () => refusalOf(() => carryOut(state, setHealth(target(), false), at(0)))
    expect(set()).toBe('service-not-found')
    const instance = registered(state, { ephemeral: false })
    expect(set()).toBe('checker-not-none')
    carryOut(state, saveCluster(ORDERS, none), at(0))
    expect(set()).toBeUndefined()
    expect(instance.healthy).toBe(false)
    const absent = { ...target(), address: address({ port: 99 }) }
    expect(refusalOf(() => carryOut(state, setHealth(absent, false), at(0)))).toBe('instance-not-found')
  })

  test('is durable for persistent instances', () => {
    registered(state, { ephemeral: false })
    carryOut(state, saveCluster(ORDERS, none), at(0))
    expect(setHealth(target(), false).decide(state, at(0)).durability).toBe('synced')
    registered(state)
    expect(setHealth(target(), false).decide(state, at(0)).durability).toBe('behind')
  })
})
