import { beforeEach, describe, expect, test } from 'vitest'
import {
  address,
  at,
  beatPartsOf,
  carryOut,
  deregistered,
  livenessOf,
  livingState,
  ORDERS,
  registered,
  swept,
} from '../../core.test-support.ts'
import type { State } from '../../engine/state.ts'
import { forgetExpiredMetadata } from '../commands/housekeeping.ts'
import { deregisterInstance, modifyInstance } from '../commands/instance-commands.ts'
import type { RegisterInstance } from '../commands/register-instance.ts'
import { deleteService } from '../commands/service-commands.ts'
import { connectionPublisher, movedPublisher } from '../state/connection-publisher.ts'
import type { Metadata } from '../state/instance.ts'
import { REMEMBERED_METADATA, rememberedId } from '../state/remembered-metadata.ts'
import { beat } from './beat.ts'
import { GOODBYE_MS, Goodbyes } from './goodbyes.ts'

const CONNECTION = connectionPublisher({ process: 'here', connectionId: '1' })
const target = { serviceKey: ORDERS, address: address(), ephemeral: undefined }

let state: State
beforeEach(() => {
  state = livingState('here')
})

function beats(ms: number, other: { cluster?: string | undefined } = {}): string {
  const source = { serviceKey: ORDERS, ...address(), ...other }
  return beat({ state, liveness: livenessOf(state) }, source, at(ms)).kind
}

describe('after a client that beats has deregistered an instance', () => {
  beforeEach(() => {
    registered(state, { metadata: { 'preserved.heart.beat.interval': '1000' } })
    deregistered(state)
  })

  test('its beats are late for ten seconds, whether they name the cluster or not', () => {
    for (const ms of [0, 5_000, GOODBYE_MS - 1])
      expect([beats(ms), beats(ms, { cluster: undefined }), beats(ms, { cluster: 'other' })]).toEqual([
        'left',
        'left',
        'unknown',
      ])
    expect([beats(GOODBYE_MS), beats(GOODBYE_MS, { cluster: undefined })]).toEqual(['unknown', 'unknown'])
    expect(livenessOf(state).goodbyes.size).toBe(0)
  })

  test('a late beat is answered with the interval that the instance had', () => {
    const source = { serviceKey: ORDERS, ...address() }
    expect(beat({ state, liveness: livenessOf(state) }, source, at(1))).toEqual({
      kind: 'left',
      cluster: 'DEFAULT',
      intervalMs: 1_000,
      isFirst: true,
    })
  })

  test('a registration ends it at once, and a deregistration begins the time again', () => {
    registered(state, {}, at(9_000))
    expect(livenessOf(state).goodbyes.size).toBe(0)
    expect(beats(9_000)).toBe('renewed')
    deregistered(state, {}, at(9_500))
    expect([beats(19_499), beats(19_500)]).toEqual(['left', 'unknown'])
  })

  test('a connection that comes and leaves meanwhile does not end it', () => {
    registered(state, { publisher: CONNECTION }, at(1_000))
    expect(beats(1_500)).toBe('renewed')
    carryOut(state, deregisterInstance(target), at(2_000))
    expect([beats(9_999), beats(10_000)]).toEqual(['left', 'unknown'])
  })

  test('it counts for a service that is deleted with it', () => {
    carryOut(state, deleteService(ORDERS), at(1_000))
    expect(beats(1_000)).toBe('left')
  })
})

describe('after a deregistration of what silence has removed', () => {
  const silencedAt = (nowMs: number) =>
    livenessOf(state).silencedPlace({ serviceKey: ORDERS, ...address() }, nowMs)
  const says = (ms: number, other: { ephemeral?: boolean } = {}) =>
    carryOut(state, deregisterInstance({ ...target, ...other }, undefined, silencedAt), at(ms))
  const remembered = () => state.record(REMEMBERED_METADATA, rememberedId(target))

  test.each<[what: string, said: Partial<RegisterInstance>, keys: Metadata]>([
    ['nothing is remembered of', {}, {}],
    ['is remembered', { weight: 5, metadata: { 'preserved.heart.beat.interval': '1000' } }, {}],
    ['has a key of an operator', { weight: 5 }, { zone: 'c' }],
  ])('beats of an instance that %s are late for ten seconds, on each server', (_what, said, metadata) => {
    registered(state, said)
    const patch = { weight: undefined, enabled: undefined, metadata, maxMetadataBytes: 1_000 }
    carryOut(state, modifyInstance(target, patch), at(0))
    swept(state, 40_000)
    expect(beats(49_999)).toBe('unknown')
    says(50_000)
    expect([beats(50_000), beats(59_999, { cluster: undefined }), beats(60_000)]).toEqual([
      'left',
      'left',
      'unknown',
    ])
    expect(remembered()).toMatchObject({ metadata, left: true })
    expect(REMEMBERED_METADATA.decode(JSON.parse(JSON.stringify(remembered())), '')).toEqual(remembered())
    registered(state, { isBeat: true }, at(60_001))
    expect(beats(60_001)).toBe('renewed')
    expect(remembered()?.left).toBeUndefined()
  })

  test('a repeated one writes nothing, and makes the time no longer', () => {
    registered(state)
    swept(state, 40_000)
    says(50_000)
    const written = remembered()
    says(55_000)
    expect(remembered()).toBe(written)
    expect([beats(59_999), beats(60_000)]).toEqual(['left', 'unknown'])
  })

  test('a late beat is answered with the interval that the instance had', () => {
    registered(state, { metadata: { 'preserved.heart.beat.interval': '1000' } })
    swept(state, 40_000)
    says(41_000)
    const source = { serviceKey: ORDERS, ...address() }
    expect(beat(beatPartsOf(state), source, at(41_001))).toMatchObject({ kind: 'left', intervalMs: 1_000 })
  })

  test('a registration ends it at once', () => {
    for (const publisher of [undefined, CONNECTION]) {
      state = livingState('here')
      registered(state)
      swept(state, 40_000)
      says(41_000)
      registered(state, { publisher }, at(42_000))
      expect([beats(42_001), remembered()]).toEqual(['renewed', undefined])
    }
  })

  test('it is forgotten with all that is remembered', () => {
    registered(state)
    swept(state, 40_000)
    says(41_000)
    for (const command of forgetExpiredMetadata(livenessOf(state), 41_000))
      carryOut(state, command, at(101_000))
    expect(state.recordCount(REMEMBERED_METADATA)).toBe(0)
  })

  test('nothing is written a minute after the silence, or by a deregistration of a persistent instance', () => {
    registered(state)
    swept(state, 40_000)
    says(41_000, { ephemeral: false })
    says(100_000)
    expect([beats(100_001), state.recordCount(REMEMBERED_METADATA)]).toEqual(['unknown', 0])
  })
})

test('a claim that is taken back counts too, when the connection leaves soon after it', () => {
  registered(state)
  registered(state, { publisher: CONNECTION })
  carryOut(
    state,
    deregisterInstance(target, () => 'kept'),
    at(1_000),
  )
  carryOut(state, deregisterInstance(target), at(2_000))
  expect([beats(10_999), beats(11_000)]).toEqual(['left', 'unknown'])
})

test('an imported instance that its client deregisters counts too', () => {
  registered(state, { publisher: movedPublisher('importer') })
  deregistered(state)
  expect(beats(1)).toBe('left')
})

test('nothing else counts: silence, a connection, a persistent instance, a removal of unknown cause', () => {
  registered(state)
  swept(state, 30_000)
  expect(beats(30_001)).toBe('unknown')
  for (const other of [{ publisher: CONNECTION }, { ephemeral: false }]) {
    registered(state, other, at(31_000))
    carryOut(state, deregisterInstance(target), at(31_000))
    expect(beats(31_001)).toBe('unknown')
  }
  const { record } = registered(state, {}, at(32_000))
  const about = { serviceKey: ORDERS, address: address(), serial: record.serial }
  const { stamp } = at(32_000)
  state.apply([{ kind: 'instance-removed', ...about, reason: 'absent', stamp }], at(32_000))
  expect(beats(32_001)).toBe('unknown')
})

test('each of many addresses is found, and only these, whatever is noted or lifted between', () => {
  const goodbyes = new Goodbyes(GOODBYE_MS)
  const place = (at: number) => ({
    serviceKey: ORDERS,
    address: address({ ip: `10.0.${at % 7}.1`, port: at }),
  })
  const heard = (at: number, ms: number) => {
    const { serviceKey, address: where } = place(at)
    return goodbyes.heard({ serviceKey: { ...serviceKey }, ...where }, ms)
  }
  for (let at = 0; at < 5_000; at++) goodbyes.note(place(at), at, at)
  for (let at = 0; at < 5_000; at += 2) goodbyes.lift(place(at))
  for (let at = 1; at < 5_000; at += 100) goodbyes.note(place(at), -at, 5_000)
  expect(goodbyes.size).toBe(2_550)
  for (const at of [0, 2, 4_998]) expect(heard(at, 5_000)).toBeUndefined()
  for (const at of [3, 4_999]) expect(heard(at, 5_000)).toMatchObject({ intervalMs: at })
  expect(heard(101, 5_000)).toMatchObject({ intervalMs: -101 })
  expect([heard(3, 10_003), heard(101, 14_999)]).toMatchObject([undefined, { intervalMs: -101 }])
  expect(heard(101, 15_000)).toBeUndefined()
  expect(goodbyes.size).toBe(0)
})

test('at most 100,000 addresses are remembered, and past ones are forgotten', () => {
  const goodbyes = new Goodbyes(GOODBYE_MS)
  for (let port = 0; port < 100_005; port++)
    goodbyes.note({ serviceKey: ORDERS, address: address({ port }) }, undefined, 0)
  expect(goodbyes.size).toBe(100_000)
  const find = (port: number) => goodbyes.heard({ serviceKey: ORDERS, ...address({ port }) }, 1)
  expect([find(4), find(5)]).toEqual([undefined, expect.anything()])
  goodbyes.note({ serviceKey: ORDERS, address: address() }, undefined, GOODBYE_MS)
  expect(goodbyes.size).toBe(1)
})
