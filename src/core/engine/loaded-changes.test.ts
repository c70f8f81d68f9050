import { expect, test } from 'vitest'
import {
  address,
  at,
  ORDERS,
  published,
  publishing,
  registration,
  swept,
  WALL_MS,
} from '../core.test-support.ts'
import { Follower } from './follower.ts'
import { type Metadata, usualPublisher } from '../naming/state/instance.ts'
import { Liveness } from '../naming/liveness/liveness.ts'
import { registerInstance } from '../naming/commands/register-instance.ts'
import { expireEmptyServices, forgetExpiredMetadata } from '../naming/commands/housekeeping.ts'
import { REMEMBERED_METADATA, rememberedId } from '../naming/state/remembered-metadata.ts'
import type { Service } from '../naming/state/service.ts'
import { NAMESPACE } from '../namespaces/namespace.ts'
import { SWITCH } from '../switches/switch-records.ts'
import type { Snapshot, StoredInstance } from './ports.ts'
import type { StoredRecord } from '../records/record-kind.ts'
import { lastStampOf, Stamps, type Now } from '../decisions/stamps.ts'
import { State } from './state.ts'

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
    swept(state, ms, liveness)
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
