import { ANONYMOUS } from '../../core/access/identity.ts'
import { beforeEach, expect, test } from 'vitest'
import { at, deregistered, EngineWorld, lastBeatMs, ORDERS } from '../../core/core.test-support.ts'
import { beatOperations } from './beats.ts'
import { Guard } from '../guard.ts'
import type { Authorisation } from '../authorisation.ts'

const caller = { ip: '10.0.0.1', identity: ANONYMOUS }
const address = { ip: '10.0.0.7', port: 80, cluster: 'DEFAULT' }
const full = { ephemeral: undefined, weight: undefined, metadata: { zone: 'a' } }
const request = { serviceKey: ORDERS, ...address, full, fingerprint: 'PUT ?beat' }

let world: EngineWorld
let isAllowed: boolean
let late: string[]
let beats: ReturnType<typeof beatOperations>
beforeEach(() => {
  world = new EngineWorld()
  isAllowed = true
  late = []
  const authorisation: Authorisation = { isOn: true, allows: () => isAllowed }
  beats = beatsOf(authorisation)
})

function beatsOf(authorisation: Authorisation) {
  const { state, liveness, engine } = world
  return beatOperations({
    guard: new Guard(authorisation),
    state,
    liveness,
    engine,
    clock: () => at(world.nowMs),
    timeline: { during: (_request, run) => run(), lateBeat: (_key, { cluster }) => void late.push(cluster) },
  })
}

const instance = () => world.state.instance(ORDERS, address)

test('a full beat registers an unknown instance with its fields, and renews it from then on', async () => {
  expect(await beats.beat(request, caller)).toMatchObject({ kind: 'registered', intervalMs: 5_000 })
  expect(instance()).toMatchObject({ metadata: { zone: 'a' }, record: { weight: 1, ephemeral: true } })
  expect(beats.beat(request, caller)).toMatchObject({ kind: 'renewed', lightBeatEnabled: true })
})

test('a beat after a deregistration registers nothing, and is noted once', async () => {
  await beats.beat(request, caller)
  deregistered(world.state, address, at(world.nowMs))
  for (const source of [request, { ...request, full: undefined }, { ...request, cluster: undefined }])
    expect(beats.beat(source, caller)).toMatchObject({ kind: 'renewed', intervalMs: 5_000 })
  expect([instance(), late]).toEqual([undefined, ['DEFAULT']])
})

test('a light beat registers nothing', () => {
  expect(beats.beat({ ...request, full: undefined }, caller)).toMatchObject({ kind: 'unknown' })
  expect(instance()).toBeUndefined()
})

test('a beat that is known by its bytes renews the instance that it renewed before', async () => {
  await beats.beat(request, caller)
  expect(beats.repeat(request.fingerprint, caller)).toBeUndefined()
  await beats.beat(request, caller)
  world.nowMs += 3_000
  expect(beats.repeat(request.fingerprint, caller)).toMatchObject({ kind: 'renewed' })
  expect(lastBeatMs(world.state, instance()!)).toBe(at(world.nowMs).healthMs)
})

test('a beat is refused to who may not write its service, also one that is known by its bytes', async () => {
  isAllowed = false
  expect(() => beats.beat(request, caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  expect(instance()).toBeUndefined()
  isAllowed = true
  await beats.beat(request, caller)
  await beats.beat(request, caller)
  const before = lastBeatMs(world.state, instance()!)
  world.nowMs += 3_000
  isAllowed = false
  expect(() => beats.repeat(request.fingerprint, caller)).toThrow(
    expect.objectContaining({ code: 'forbidden' }),
  )
  expect(lastBeatMs(world.state, instance()!)).toBe(before)
})

test('who may not write the service of a known beat is refused, whatever else it may write', async () => {
  await beats.beat(request, caller)
  await beats.beat(request, caller)
  const others: Authorisation = { isOn: true, allows: (_, __, { kind }) => kind === 'some-services' }
  const { repeat } = beatsOf(others)
  expect(() => repeat(request.fingerprint, caller)).toThrow(expect.objectContaining({ code: 'forbidden' }))
  expect(repeat('unknown', caller)).toBeUndefined()
})
