import { expect, test } from 'vitest'
import { BEATS, type InstanceRecord, OPERATOR } from '../../src/core/naming/state/instance.ts'
import { instanceSaved, sampleInstance, sampleService, serviceSaved, START_MS, stamps } from './samples.ts'
import type { StateStore, StoreBench } from './contract-store.ts'

/** Services and instances come back as they were committed. */
export function namingContract(bench: StoreBench<StateStore>): void {
  test('a service comes back with all its fields, in its latest state', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 1)
    const changed = { ...service, protectThreshold: 1, selector: { type: 'none' } as const, clusters: {} }
    const byRegistration = { ...sampleService('cart', 2), madeBy: 'registration' as const }
    for (const one of [service, byRegistration, changed]) await store.write(serviceSaved(one))
    store = await bench.reopen(store)
    const loaded = (await store.load()).services
    expect(loaded.map(withoutSerial)).toEqual([changed, byRegistration].map(withoutSerial))
  })

  test('a deleted service does not come back', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 1)
    await store.write(serviceSaved(service))
    await store.write({ kind: 'service-deleted', key: service.key, serial: 1 })
    store = await bench.reopen(store)
    expect(await store.load()).toMatchObject({ services: [], instances: [] })
  })

  test('instances are saved, saved again, turn unhealthy and are removed', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const [first, second, third] = [sampleInstance(80), sampleInstance(81), sampleInstance(82)]
    const persistent = { ephemeral: false, publisher: OPERATOR }
    const changed = { ...first, ...persistent, weight: 0, enabled: false, registered: {}, app: '' }
    const health = {
      kind: 'instance-health-changed',
      serviceKey: service.key,
      healthy: false,
      stamp: stamps.next(START_MS),
    } as const
    await store.write(
      serviceSaved(service),
      ...[first, second, third].map((record) => instanceSaved(service, record, true)),
      { ...health, address: first.address, serial: first.serial },
      { ...health, address: first.address, serial: 999 },
      instanceSaved(service, changed),
      {
        kind: 'instance-removed',
        serviceKey: service.key,
        address: second.address,
        serial: second.serial,
        reason: 'expired',
        stamp: stamps.next(START_MS),
      },
    )
    store = await bench.reopen(store)
    expect(await instancesOf(store)).toEqual([
      { serviceKey: service.key, record: withoutSerial(changed), healthy: false },
      { serviceKey: service.key, record: withoutSerial(third), healthy: true },
    ])
  })

  test('an instance without a stored health is healthy', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    await store.write(serviceSaved(service), instanceSaved(service, sampleInstance(80)))
    store = await bench.reopen(store)
    expect((await store.load()).instances[0]?.healthy).toBe(true)
  })

  test('an instance comes back with any texts', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const odd = {
      ...sampleInstance(80),
      app: 'a\0"b',
      registered: { 'k\\"\n': 'ü ✓ \0 \u2028', __proto: '' },
    }
    await store.write(serviceSaved(service), instanceSaved(service, odd, true))
    store = await bench.reopen(store)
    expect((await instancesOf(store))[0]?.record).toEqual(withoutSerial(odd))
  })

  test('an instance of each kind comes back with its publisher', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const publishers = [BEATS, OPERATOR, { kind: 'connection', id: '1795_10.0.0.1_"50"\n' }] as const
    const records = publishers.flatMap((publisher, index) => [
      { ...sampleInstance(80 + index), ephemeral: true, publisher },
      { ...sampleInstance(90 + index), ephemeral: false, publisher },
    ])
    await store.write(serviceSaved(service), ...records.map((record) => instanceSaved(service, record, true)))
    store = await bench.reopen(store)
    const loaded = (await instancesOf(store)).map(({ record }) => record)
    expect(loaded).toEqual(records.toSorted(byPort).map(withoutSerial))
  })

  test('an instance comes back with the claims to its address, and without them when they are gone', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const rest = { weight: 0.5, enabled: false, registered: { zone: 'ü' }, app: 'b', healthy: false }
    const claims = [
      { publisher: { kind: 'connection', id: 'p/1' } as const, ...rest },
      { publisher: BEATS, ...rest },
      { publisher: OPERATOR, ...rest, healthy: true },
    ]
    const connection = { kind: 'connection', id: 'p/2' } as const
    const records = [
      { ...sampleInstance(80), claims },
      { ...sampleInstance(81), publisher: connection, claims },
      sampleInstance(82),
    ]
    const before = instanceSaved(service, { ...sampleInstance(82), claims }, true)
    await store.write(serviceSaved(service), before)
    await store.write(...records.map((record) => instanceSaved(service, record, true)))
    store = await bench.reopen(store)
    const loaded = (await instancesOf(store)).map(({ record }) => record)
    expect(loaded).toEqual(records.toSorted(byPort).map(withoutSerial))
  })

  test('thousands of instances that are written at once all come back', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const records = Array.from({ length: 5_123 }, (_, index) => sampleInstance(index + 1))
    await store.write(serviceSaved(service), ...records.map((record) => instanceSaved(service, record, true)))
    store = await bench.reopen(store)
    const loaded = (await instancesOf(store)).map(({ record }) => record)
    expect(loaded).toEqual(records.map(withoutSerial))
  })
}

/** The instances that a server loads, by port. A store of several servers has no serials: each server gives its own. */
async function instancesOf(store: StateStore) {
  const { instances } = await store.load()
  const known = instances.map(({ record, ...rest }) => ({ ...rest, record: withoutSerial(record) }))
  return known.toSorted((a, b) => byPort(a.record, b.record))
}

function withoutSerial<T extends { readonly serial: number }>({ serial: _serial, ...rest }: T) {
  return rest
}

function byPort(a: Pick<InstanceRecord, 'address'>, b: Pick<InstanceRecord, 'address'>): number {
  return a.address.port - b.address.port
}
