import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Change } from '../decisions/changes.ts'
import {
  address,
  at,
  EngineWorld,
  ORDERS,
  registration,
  WALL_MS,
  published,
  publishing,
} from '../core.test-support.ts'
import { deregisterInstance } from '../naming/commands/instance-commands.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { createService, deleteService } from '../naming/commands/service-commands.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import { recordSaved, type StoredRecord } from '../records/record-kind.ts'
import { reportFaultsTo } from '../unexpected.ts'
import { Follower } from './follower.ts'
import { type Metadata, usualPublisher } from '../naming/state/instance.ts'
import { Liveness } from '../naming/liveness/liveness.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../naming/commands/housekeeping.ts'
import { REMEMBERED_METADATA, rememberedId } from '../naming/state/remembered-metadata.ts'
import type { Service } from '../naming/state/service.ts'
import { SWITCH } from '../switches/switch-records.ts'
import type { Snapshot, StoredInstance } from './ports.ts'
import { lastStampOf, Stamps, type Now } from '../decisions/stamps.ts'
import { State } from './state.ts'

const namespace = (id: string): Change =>
  recordSaved(NAMESPACE, { id, value: { id, showName: id, desc: '' }, stamp: 0 })
const refOf = (world: EngineWorld) => world.state.services.get(ORDERS)?.lastRefMs ?? 0
const register = (world: EngineWorld, port: number) =>
  world.start(registerInstance(registration({ address: address({ port }) })))

let world: EngineWorld
beforeEach(() => void (world = new EngineWorld()))

describe('the order of changes', () => {
  test('commits are applied and published in the order of their revisions', () => {
    const { follower, state, published } = new EngineWorld()
    follower.applied({ revision: 5, changes: [namespace('a'), namespace('b')] })
    follower.applied({ revision: 9, changes: [namespace('c')] })
    expect(Array.from(state.records(NAMESPACE), ([id]) => id)).toEqual(['a', 'b', 'c'])
    expect(published).toEqual(['a', 'b', 'c'].map(namespace))
  })

  test.each([4, 5])('revision %i after revision 5 is refused, and nothing of it is applied', (revision) => {
    const { follower, state, published } = new EngineWorld()
    follower.applied({ revision: 5, changes: [namespace('a')] })
    expect(() => follower.applied({ revision, changes: [namespace('b')] })).toThrow('Revision')
    expect([state.recordCount(NAMESPACE), published.length]).toEqual([1, 1])
  })

  test('a change that is written behind is applied and published once, when it is decided', async () => {
    register(world, 80)
    const version = world.state.services.get(ORDERS)?.version
    const lastRefMs = refOf(world)
    expect(world.published.map(({ kind }) => kind)).toEqual(['service-saved', 'instance-saved'])
    world.nowMs = 5_000
    await world.flush()
    expect(world.store.instances.size).toBe(1)
    expect([world.published.length, world.state.services.get(ORDERS)?.version, refOf(world)]).toEqual([
      2,
      version,
      lastRefMs,
    ])
  })

  test('a durable command is answered after its revision is applied', async () => {
    const made = Promise.resolve(
      world.engine.execute(
        createService(ORDERS, { protectThreshold: 0.5, metadata: undefined, selector: undefined }),
      ),
    )
    const known = made.then(() => world.state.service(ORDERS)?.protectThreshold)
    await world.quiet()
    expect(await known).toBe(0.5)
  })
})

describe('lastRefTime', () => {
  test('rises with every decision, and stamps follow it when it is ahead of the clock', () => {
    for (let port = 1; port <= 500; port++) {
      const before = refOf(world)
      register(world, port)
      expect(refOf(world)).toBeGreaterThan(before)
    }
    expect(refOf(world)).toBeGreaterThanOrEqual(WALL_MS + 500)
    expect(world.stamps.next(at(0).wallMs)).toBeGreaterThanOrEqual(refOf(world) * 1_024)
  })

  test('rises over a service that is removed and created again', async () => {
    const target = { serviceKey: ORDERS, address: address({ port: 1 }), ephemeral: undefined }
    for (let round = 0; round < 5; round++) {
      register(world, 1)
      const before = refOf(world)
      world.start(deregisterInstance(target))
      const left = refOf(world)
      world.start(deleteService(ORDERS))
      await world.flush()
      expect(world.state.services.floorMs).toBeGreaterThan(before)
      register(world, 1)
      expect(refOf(world)).toBeGreaterThan(left)
      world.start(deregisterInstance(target))
      await world.flush()
    }
  })

  test('stays near the clock when many services change once each', () => {
    for (let at = 0; at < 2_000; at++) {
      const serviceKey = { ...ORDERS, groupedName: `G@@s${at}` }
      world.start(registerInstance(registration({ serviceKey })))
    }
    // Two stamps a decision, 1,024 a millisecond, and new services start one above the floor.
    expect(world.state.latestRefMs - WALL_MS).toBeLessThan(10)
  })
})

describe('a fault while a change is applied', () => {
  afterEach(() => reportFaultsTo(undefined))

  test('ends the process, and nothing is applied after it', () => {
    const fatal: unknown[] = []
    reportFaultsTo({ caught: () => undefined, fatal: (error) => void fatal.push(error) })
    const { follower, state, published } = new EngineWorld()
    const broken = { kind: 'config-published' } as unknown as Change
    expect(() => follower.applied({ revision: 1, changes: [namespace('a'), broken] })).toThrow(Error)
    expect(fatal).toHaveLength(1)
    expect(() => follower.applied({ revision: 2, changes: [namespace('b')] })).toThrow('broken')
    expect(() => follower.appliedAhead([namespace('c')])).toThrow('broken')
    expect([state.record(NAMESPACE, 'b'), state.record(NAMESPACE, 'c'), published]).toEqual([
      undefined,
      undefined,
      [],
    ])
  })
})

const SERVICE: Service = {
  key: ORDERS,
  serial: 7,
  protectThreshold: 0,
  metadata: {},
  selector: { type: 'none' },
  clusters: {},
  madeBy: 'registration',
}

function stored(port: number, other: Partial<StoredInstance['record']> = {}): StoredInstance {
  const record = {
    address: address({ port }),
    serial: port,
    ephemeral: true,
    publisher: usualPublisher(other.ephemeral ?? true),
    weight: 1,
    enabled: true,
    registered: {},
    app: '',
  }
  return { serviceKey: ORDERS, record: { ...record, ...other }, healthy: true }
}

function remembered(port: number, metadata: Metadata): StoredRecord {
  const place = { serviceKey: ORDERS, address: address({ port }) }
  return { recordKind: REMEMBERED_METADATA.name, id: rememberedId(place), value: { ...place, metadata } }
}

function snapshot(other: Partial<Snapshot> = {}): Snapshot {
  const nothing = { configs: [], namespaces: [], services: [], instances: [], records: [] }
  return { ...nothing, revision: 0, largestStamp: 0, ...other }
}

/** The state of a server that starts at `now` from a snapshot. */
function loadState(stored: Snapshot, now: Now) {
  const stamps = new Stamps()
  const clock = () => ({ ...now, stamp: stamps.next(now.wallMs) })
  const presence = new Liveness()
  const follower = Follower.load(stored, { clock, stamps, presence, feed: { publishChanges: () => {} } })
  return { state: follower.state, serials: follower.serials, liveness: presence }
}

test('everything in the snapshot is loaded', () => {
  const item = published(new State(0), 'text', publishing('').key)
  const { state } = loadState(
    snapshot({
      configs: [item],
      services: [SERVICE],
      instances: [stored(10), { ...stored(11, { ephemeral: false }), healthy: false }],
      records: [
        { recordKind: NAMESPACE.name, id: 'dev', value: { id: 'dev', showName: 'd', desc: '' } },
        remembered(10, { a: '1' }),
        { recordKind: SWITCH.name, id: 'pushEnabled', value: false },
      ],
    }),
    at(0),
  )
  expect(state.config(item.key)).toBe(item)
  expect(state.record(NAMESPACE, 'dev')?.showName).toBe('d')
  expect([...state.instances(ORDERS)].map(({ healthy, metadata }) => [healthy, metadata])).toEqual([
    [true, { a: '1' }],
    [false, {}],
  ])
  expect(state.switches).toMatchObject({ pushEnabled: false, checkTimes: 3 })
})

test('remembered metadata that is saved again has its new order, as after a start', () => {
  const instances = [stored(10)]
  const { state } = loadState(
    snapshot({ services: [SERVICE], instances, records: [remembered(10, { a: '1', b: '2' })] }),
    at(0),
  )
  const changed = remembered(10, { b: '2', a: '1' })
  state.apply([{ kind: 'record-saved', ...changed, stamp: 9 }], at(0))
  const later = loadState(snapshot({ services: [SERVICE], instances, records: [changed] }), at(0))
  const [shown, loaded] = [state, later.state].map((one) =>
    JSON.stringify(Array.from(one.instances(ORDERS), ({ metadata }) => metadata)),
  )
  expect(shown).toBe(loaded)
})

test('every ephemeral instance gets a full timeout, by its own and its remembered metadata', () => {
  const keys = { 'preserved.ip.delete.timeout': '5000' }
  const { state, liveness } = loadState(
    snapshot({
      services: [SERVICE],
      instances: [
        stored(10),
        { ...stored(11), healthy: false },
        stored(12),
        stored(13, { ephemeral: false }),
      ],
      records: [remembered(12, keys)],
    }),
    at(1_000),
  )
  const leftBy = (ms: number) => {
    state.apply(
      liveness.sweep(at(ms), () => true),
      at(ms),
    )
    return [...state.instances(ORDERS)].map(({ record }) => record.address.port)
  }
  expect(leftBy(5_750)).toEqual([10, 11, 12, 13])
  expect(leftBy(6_000)).toEqual([10, 11, 13])
  expect(leftBy(30_750)).toEqual([10, 11, 13])
  expect(leftBy(31_000)).toEqual([13])
})

test('lastRefTime is above every earlier value, also if the clock has gone back', () => {
  const { state } = loadState(
    snapshot({ services: [SERVICE], instances: [stored(10)], largestStamp: lastStampOf(WALL_MS + 60_000) }),
    at(0),
  )
  expect(state.services.get(ORDERS)?.lastRefMs).toBeGreaterThan(WALL_MS + 60_000)
  expect(state.services.floorMs).toBeGreaterThan(WALL_MS + 60_000)
})

test('lastRefTime can begin ahead of all stamps, which do not follow it', () => {
  const stamps = new Stamps()
  const clock = () => ({ ...at(0), stamp: stamps.next(WALL_MS) })
  const options = { clock, stamps, presence: new Liveness(), feed: { publishChanges: () => {} } }
  const loaded = snapshot({ services: [SERVICE], instances: [stored(10)] })
  const { state } = Follower.load(loaded, { ...options, lastRefAheadMs: 1_000 })
  expect(state.services.get(ORDERS)?.lastRefMs).toBeGreaterThanOrEqual(WALL_MS + 1_000)
  expect(stamps.next(WALL_MS)).toBeLessThan(lastStampOf(WALL_MS + 10))
})

test('lastRefTime is not ahead of the clock by the number of instances', () => {
  const instances = Array.from({ length: 5_000 }, (_, port) => stored(port))
  const { state } = loadState(snapshot({ services: [SERVICE], instances }), at(0))
  expect(state.services.get(ORDERS)?.lastRefMs).toBeLessThanOrEqual(WALL_MS + 1)
})

test('no serial is used twice', () => {
  const { state, serials } = loadState(snapshot({ services: [SERVICE], instances: [stored(90)] }), at(0))
  const { changes } = registerInstance(registration({ address: address({ port: 1 }) })).decide(state, at(0))
  const [numbered] = serials.ofDecisions([changes], state)
  expect(numbered).toMatchObject([
    { kind: 'instance-saved', record: { serial: 91 }, serviceSerial: SERVICE.serial },
  ])
})

test('empty services and remembered metadata start to age at the start of the server', () => {
  const { liveness } = loadState(
    snapshot({
      services: [SERVICE],
      records: [remembered(80, { a: '1' })],
    }),
    at(1_000),
  )
  expect([expireEmptyServices(liveness, 999), forgetExpiredMetadata(liveness, 999)]).toEqual([[], []])
  expect([expireEmptyServices(liveness, 1_000), forgetExpiredMetadata(liveness, 1_000)]).toMatchObject([
    [{}],
    [{}],
  ])
})
