import { expect, test } from 'vitest'
import {
  address,
  at,
  carryOut,
  EngineWorld,
  ORDERS,
  registered,
  registration,
} from '../core/core.test-support.ts'
import { beat } from '../core/naming/liveness/beat.ts'
import { connectionPublisher } from '../core/naming/state/connection-publisher.ts'
import { HealthClock } from '../core/naming/liveness/health-clock.ts'
import { REMEMBERED_METADATA, rememberedId } from '../core/naming/state/remembered-metadata.ts'
import { recordSaved } from '../core/records/record-kind.ts'
import { registerInstance } from '../core/naming/commands/register-instance.ts'
import { setSwitch } from '../core/operator/set-switch.ts'
import { NamingCare, SWEEP_MS } from './naming-care.ts'

function startCare(liveShare = 1) {
  const world = new EngineWorld()
  const clock = new HealthClock(0, SWEEP_MS)
  const later: (() => void)[] = []
  const care = new NamingCare({
    state: world.state,
    liveness: world.liveness,
    isAlive: (process) => process === 'this',
    engine: world.engine,
    clock,
    monotonicMs: () => world.nowMs,
    now: () => ({ ...at(world.nowMs), healthMs: clock.at(world.nowMs) }),
    loop: { now: () => world.nowMs, soon: (run) => later.push(run) },
    liveShare: () => liveShare,
    emptyServiceExpiryMs: 60_000,
    expiredMetadataTimeMs: 60_000,
  })
  const pass = (ms: number) => {
    for (const untilMs = world.nowMs + ms; world.nowMs < untilMs;) {
      world.nowMs += SWEEP_MS
      care.sweep()
    }
  }
  return { world, care, pass, later }
}

test('many instances that fall silent at once are judged in slices, without the one that beats meanwhile', () => {
  const { world, pass, later } = startCare()
  const ports = Array.from({ length: 1_000 }, (_, index) => index + 1)
  for (const port of ports) world.start(registerInstance(registration({ address: address({ port }) })))
  pass(15_000)
  const silent = (): number => [...world.state.instances(ORDERS)].filter(({ healthy }) => !healthy).length
  expect(silent()).toBe(200)
  beat(world, { serviceKey: ORDERS, ...address({ port: 1_000 }) }, at(15_000))
  while (later.length > 0) later.shift()!()
  expect(silent()).toBe(999)
})

test('a silent instance becomes unhealthy and is removed, and its service a minute later', async () => {
  const { world, care, pass } = startCare()
  world.start(registerInstance(registration()))
  pass(16_000)
  expect([...world.state.instances(ORDERS)].map(({ healthy }) => healthy)).toEqual([false])
  pass(15_000)
  expect(world.state.instanceCount(ORDERS)).toBe(0)
  pass(50_000)
  await care.expireServices()
  expect(world.state.service(ORDERS)).toBeDefined()
  pass(12_000)
  await care.expireServices()
  expect(world.state.service(ORDERS)).toBeUndefined()
  expect(world.published.map(({ kind }) => kind)).toEqual([
    'service-saved',
    'instance-saved',
    'instance-health-changed',
    'instance-removed',
    'service-deleted',
  ])
})

test('no instance is judged while health checks are off or too few servers are alive', () => {
  const off = startCare()
  carryOut(off.world.state, setSwitch('healthCheckEnabled', 'false', true), at(0))
  const lonely = startCare(0.6)
  for (const { world, pass } of [off, lonely]) {
    world.start(registerInstance(registration()))
    pass(60_000)
    expect([...world.state.instances(ORDERS)].map(({ healthy }) => healthy)).toEqual([true])
  }
})

test('remembered metadata whose instance does not come back is forgotten durably', async () => {
  const { world, care, pass } = startCare()
  const value = { serviceKey: ORDERS, address: registration().address, metadata: { a: '1' } }
  carryOut(world.state, registerInstance(registration()), at(0))
  world.state.apply([recordSaved(REMEMBERED_METADATA, { id: rememberedId(value), value, stamp: 0 })], at(0))
  pass(31_000)
  await care.forgetMetadata()
  expect(world.state.recordCount(REMEMBERED_METADATA)).toBe(1)
  pass(61_000)
  const done = care.forgetMetadata()
  await world.quiet()
  await done
  expect(world.state.recordCount(REMEMBERED_METADATA)).toBe(0)
  expect(world.store.begun.flat(2).map(({ kind }) => kind)).toContain('record-removed')
})

test('instances of connections of an earlier process stay for 40 s, and then leave in slices, if nobody has them', () => {
  const { world, pass, later } = startCare()
  const publishers = ['earlier', 'this'].map((process) => connectionPublisher({ process, connectionId: '1' }))
  const [earlier, own] = publishers
  for (let port = 1; port <= 1_000; port++)
    registered(world.state, { publisher: earlier, address: address({ port }) })
  registered(world.state, { publisher: own, address: address({ port: 1 }), isGone: () => true })
  pass(40_000)
  expect(world.state.instanceCount(ORDERS)).toBe(1_000)
  expect([...world.state.instances(ORDERS)].every(({ healthy }) => healthy)).toBe(true)
  pass(250)
  expect(world.state.instanceCount(ORDERS)).toBe(800)
  while (later.length > 0) later.shift()!()
  expect([...world.state.instances(ORDERS)].map(({ record }) => record.address.port)).toEqual([1])
})

test('no instance of an earlier process leaves while operators let nothing change', () => {
  const { world, pass } = startCare()
  registered(world.state, { publisher: connectionPublisher({ process: 'earlier', connectionId: '1' }) })
  pass(35_000)
  carryOut(world.state, setSwitch('overriddenServerStatus', 'READ_ONLY', true), at(0))
  pass(100_000)
  carryOut(world.state, setSwitch('overriddenServerStatus', 'UP', true), at(0))
  pass(4_000)
  expect(world.state.instancesInAll).toBe(1)
  pass(2_000)
  expect(world.state.instancesInAll).toBe(0)
})
