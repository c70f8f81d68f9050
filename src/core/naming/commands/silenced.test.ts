import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  livenessOf,
  livingState,
  ORDERS,
  registered,
  registration,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { MOST_REMEMBERED } from '../liveness/liveness.ts'
import { connectionPublisher } from '../state/connection-publisher.ts'
import type { Metadata } from '../state/instance.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { Timeline } from '../timeline/timeline.ts'
import { forgetExpiredMetadata } from './housekeeping.ts'
import { deregisterInstance, type InstancePatch, liftSettings, modifyInstance } from './instance-commands.ts'
import { deleteMetadata, updateMetadata } from './metadata-commands.ts'
import { registerInstance, type RegisterInstance } from './register-instance.ts'

const OWN_TIMES: Metadata = { zone: 'a', 'preserved.heart.beat.interval': '1000' }
const FULL = { weight: 5, metadata: OWN_TIMES, app: 'shop' }
const actor = { user: 'ops', ip: '10.0.0.9' }
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }
const batch = { serviceKey: ORDERS, consistencyType: undefined, instances: [], maxBytes: 100 }
const ONE = connectionPublisher({ process: 'p', connectionId: '1' })

let state: State
beforeEach(() => void (state = livingState()))

function modify(patch: Partial<InstancePatch>): void {
  const nothing = { weight: undefined, enabled: undefined, metadata: undefined, maxMetadataBytes: 1_000 }
  carryOut(state, modifyInstance(target, { ...nothing, actor, ...patch }), at(5))
}

/** Its client is silent until it is removed. */
function fallSilent(sinceMs = 0): void {
  for (const ms of [sinceMs + 20_000, sinceMs + 40_000])
    for (const change of livenessOf(state).sweep(at(ms), () => true)) state.apply([change], at(ms))
  expect(state.instancesInAll).toBe(0)
}

function beats(said: Partial<RegisterInstance> = {}) {
  return registered(state, { isBeat: true, ...said }, at(50_000))
}

const remembered = () => state.record(REMEMBERED_METADATA, rememberedId(target))

describe('what silence has removed', () => {
  test.each<[what: string, said: Partial<RegisterInstance>]>([
    ['nothing else', {}],
    ['a weight', { weight: 1 }],
    ['other metadata', { metadata: { other: '1' } }],
    ['everything otherwise', { weight: 9, metadata: { zone: 'b' }, app: 'other' }],
  ])('comes back as it was with a beat that says %s', (_what, said) => {
    registered(state, FULL)
    fallSilent()
    const instance = beats(said)
    expect(instance).toMatchObject({ healthy: true, metadata: OWN_TIMES, timing: { intervalMs: 1_000 } })
    expect(instance.record).toMatchObject({ weight: 5, enabled: true, registered: OWN_TIMES, app: 'shop' })
    expect(remembered()).toBeUndefined()
  })

  test('comes back again after each silence, under what an operator has set', () => {
    registered(state, FULL)
    modify({ enabled: false, weight: 2, metadata: { zone: 'c' } })
    for (const sinceMs of [0, 50_000]) {
      fallSilent(sinceMs)
      const instance = beats()
      expect(instance.record).toMatchObject({ weight: 2, enabled: false, registered: OWN_TIMES })
      expect(instance.metadata).toEqual({ ...OWN_TIMES, zone: 'c' })
      expect(remembered()).toMatchObject({ weight: 2, enabled: false, said: { weight: 5, enabled: true } })
      expect(remembered()?.settings).toMatchObject([
        { user: 'ops', ip: '10.0.0.9', fields: ['metadata.zone', 'weight', 'enabled'] },
      ])
    }
  })

  test('stays offline over every registration that repeats it, until another one comes', () => {
    for (const first of [FULL, { isBeat: true }]) {
      state = livingState()
      registered(state, FULL)
      modify({ enabled: false })
      fallSilent()
      for (const said of [first, FULL, FULL]) {
        expect(registered(state, said, at(50_000)).record).toMatchObject({ weight: 5, enabled: false })
        expect(remembered()?.enabled).toBe(false)
      }
      expect(registered(state, { ...FULL, weight: 4 }, at(51_000)).record).toMatchObject({ enabled: true })
      expect(remembered()).toBeUndefined()
    }
  })

  test.each<[what: string, ends: () => void]>([
    ['sets what the application says', () => modify({ enabled: true })],
    ['lifts it', () => carryOut(state, liftSettings(target), at(6))],
  ])('is forgotten once it is back and an operator %s', (_what, ends) => {
    registered(state, FULL)
    modify({ enabled: false })
    fallSilent()
    registered(state, FULL, at(50_000))
    ends()
    expect([remembered(), state.instance(ORDERS, address())?.record.enabled]).toEqual([undefined, true])
  })

  test.each<[what: string, other: Partial<RegisterInstance>, enabled: boolean]>([
    ['repeats what was registered', {}, false],
    ['has another weight', { weight: 4 }, true],
    ['has other metadata', { metadata: {} }, true],
    ['was once disabled by its client', { enabled: false }, false],
  ])('stays offline as an operator wants if a registration %s', (_what, other, enabled) => {
    registered(state, FULL)
    modify({ enabled: false })
    fallSilent()
    const { record } = registered(state, { ...FULL, ...other }, at(50_000))
    const { weight = 5, metadata = OWN_TIMES } = other
    expect(record).toMatchObject({ weight, enabled })
    expect(record.registered).toEqual(metadata)
    const holds = Object.keys(other).length === 0
    expect(remembered()?.enabled).toBe(holds ? false : undefined)
  })

  test('is forgotten by a goodbye, and keys of an operator are not', () => {
    registered(state, FULL)
    modify({ enabled: false, metadata: { zone: 'c' } })
    fallSilent()
    carryOut(state, deregisterInstance(target), at(41_000))
    const instance = beats()
    expect(instance.record).toMatchObject({ weight: 1, enabled: true, registered: {} })
    expect(instance.metadata).toEqual({ zone: 'c' })
  })

  test('is forgotten after its time', () => {
    registered(state, FULL)
    fallSilent()
    for (const command of forgetExpiredMetadata(livenessOf(state), 40_000))
      carryOut(state, command, at(100_000))
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
    expect(livenessOf(state).absentClusters(ORDERS, address().ip, address().port)).toEqual([])
    expect(beats().record).toMatchObject({ weight: 1, registered: {} })
  })

  test('is found by every spelling of its address', () => {
    registered(state, { ...FULL, address: address({ ip: 'fd00::1', cluster: 'c1' }) })
    fallSilent()
    expect(livenessOf(state).absentClusters(ORDERS, '[FD00:0:0:0:0:0:0:1]', 80)).toEqual(['c1'])
  })

  test('comes back in its own spelling, and an older one counts no longer', () => {
    for (const [ip, ms] of [
      ['[2001:db8::7]', 0],
      ['2001:DB8::7', 60_000],
    ] as const) {
      registered(state, { ...FULL, address: address({ ip }) }, at(ms))
      const keys = { ...batch, instances: [{ ...address({ ip }), ephemeral: true }], keys: { zone: 'c' } }
      carryOut(state, updateMetadata(keys), at(1))
      fallSilent(ms)
      const said = { isBeat: true, address: address({ ip: '2001:db8:0:0:0:0:0:7' }) }
      expect(registered(state, said, at(ms + 50_000)).record).toMatchObject({ address: { ip }, weight: 5 })
      carryOut(state, deregisterInstance({ ...target, address: address({ ip }) }), at(ms + 50_000))
    }
  })

  test('is not remembered if a bare registration says the same', () => {
    registered(state)
    fallSilent()
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
  })

  test.each<[whose: string, other: Partial<RegisterInstance>, isRemembered: boolean]>([
    ['of a connection, and stays remembered', { publisher: ONE }, true],
    ['of a persistent instance', { isBeat: true, ephemeral: false }, false],
  ])('does not come back with the registration %s', (_whose, other, isRemembered) => {
    registered(state, FULL)
    fallSilent()
    expect(registered(state, other, at(50_000)).record).toMatchObject({ weight: 1, registered: {} })
    expect(remembered() !== undefined).toBe(isRemembered)
  })

  test('is not remembered beyond a limit, and counted', () => {
    const others = Array.from({ length: MOST_REMEMBERED }, (_, port) => ({
      serviceKey: ORDERS,
      address: address({ port }),
    }))
    for (const place of others) livenessOf(state).metadataChanged(place, true, 0)
    for (const [said, forgotten, ms] of [
      [{}, 0, 0],
      [FULL, 1, 50_000],
    ] as const) {
      registered(state, { ...said, address: address({ cluster: 'c' }) }, at(ms))
      fallSilent(ms)
      expect([state.recordCount(REMEMBERED_METADATA), livenessOf(state).counts.forgotten]).toEqual([
        0,
        forgotten,
      ])
    }
  })

  test('is read from the store as it was written', () => {
    registered(state, FULL)
    modify({ enabled: false, metadata: { zone: 'c' } })
    fallSilent()
    const value = remembered()
    expect(value?.silenced).toEqual({ weight: 5, enabled: true, registered: OWN_TIMES, app: 'shop' })
    expect(REMEMBERED_METADATA.decode(JSON.parse(JSON.stringify(value)), '')).toEqual(value)
  })

  test('is counted as memory, and no longer once it is back', () => {
    const used = () => state.memory.of('remembered metadata').heap
    registered(state, FULL)
    fallSilent()
    expect(used()).toBeGreaterThan(300)
    beats()
    expect(used()).toBe(0)
  })

  test('is back from memory, as the timeline says, and a new registration is not', () => {
    const timeline = new Timeline({ startMs: 0, probeText: () => '' })
    const see = (said: Partial<RegisterInstance>): void => {
      registered(state, FULL)
      fallSilent()
      const { changes } = registerInstance(registration(said)).decide(state, at(50_000))
      for (const change of changes) timeline.see(change, state, at(50_000))
    }
    see({ isBeat: true })
    state = livingState()
    see({ weight: 3 })
    expect(timeline.of(ORDERS).entries.map(({ kind, cause }) => [kind, cause])).toEqual([
      ['registered', 'registration'],
      ['registered', 'memory'],
    ])
  })
})

describe('a beat', () => {
  test('changes nothing of an instance that another server has registered meanwhile', () => {
    registered(state, FULL)
    const beat = registerInstance(registration({ isBeat: true }))
    expect(beat.decide(state, at(1))).toMatchObject({ changes: [], outcome: 'known' })
  })
})

describe('what an operator has set', () => {
  test('ends with a registration over HTTP, and then the application alone counts', () => {
    registered(state, FULL)
    modify({ weight: 2, enabled: false })
    expect(registered(state, { ...FULL, weight: 2 }).record).toMatchObject({ weight: 2, enabled: true })
    expect(remembered()).toBeUndefined()
  })

  test('is nothing where it is what the application says', () => {
    registered(state, FULL)
    modify({ enabled: false })
    modify({ enabled: true })
    expect(remembered()).toBeUndefined()
  })

  test('names the last one for each field, and nobody once a field is gone', () => {
    registered(state, FULL)
    modify({ weight: 2, metadata: { a: '1', b: '1' } })
    modify({ metadata: { b: '2' }, actor: { user: null, ip: '10.0.0.1' } })
    expect(remembered()?.settings?.map(({ user, fields }) => [user, fields])).toEqual([
      [null, ['metadata.b']],
      ['ops', ['metadata.a', 'weight']],
    ])
    const all = { ...batch, consistencyType: 'ephemeral', keys: { b: '' } }
    carryOut(state, deleteMetadata(all), at(6))
    expect(remembered()?.settings?.map(({ fields }) => fields)).toEqual([['metadata.a', 'weight']])
  })
})
