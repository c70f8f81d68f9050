import { expect, test } from 'vitest'
import { BEATS, OPERATOR } from '../../src/core/naming/instance.ts'
import {
  commitAll,
  instanceSaved,
  sampleInstance,
  sampleService,
  serviceSaved,
  START_MS,
  stamps,
} from './samples.ts'
import type { StoreBench } from './store-contract.ts'

/** Services and instances come back as they were committed. */
export function namingContract(bench: StoreBench): void {
  test('a service comes back with all its fields, in its latest state', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 1)
    const changed = { ...service, protectThreshold: 1, selector: { type: 'none' } as const, clusters: {} }
    const byRegistration = { ...sampleService('cart', 2), madeBy: 'registration' as const }
    await commitAll(store, serviceSaved(service), serviceSaved(byRegistration))
    await commitAll(store, serviceSaved(changed))
    store = await bench.reopen(store)
    expect((await store.load()).services).toEqual([changed, byRegistration])
  })

  test('the instances of a deleted service are removed', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 1)
    await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80), true))
    await commitAll(store, { kind: 'service-deleted', key: service.key, serial: 1 })
    store = await bench.reopen(store)
    expect(await store.load()).toMatchObject({ services: [], instances: [] })
    await commitAll(store, serviceSaved(service))
    store = await bench.reopen(store)
    expect((await store.load()).instances).toEqual([])
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
    await commitAll(
      store,
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
    expect((await store.load()).instances).toEqual([
      { serviceKey: service.key, record: changed, healthy: false },
      { serviceKey: service.key, record: third, healthy: true },
    ])
  })

  test('an instance without a stored health is healthy', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80)))
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
    await commitAll(store, serviceSaved(service), instanceSaved(service, odd, true))
    store = await bench.reopen(store)
    expect((await store.load()).instances[0]?.record).toEqual(odd)
  })

  test('an instance of each kind comes back with its publisher', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const publishers = [BEATS, OPERATOR, { kind: 'connection', id: '1795_10.0.0.1_"50"\n' }] as const
    const records = publishers.flatMap((publisher, index) => [
      { ...sampleInstance(80 + index), ephemeral: true, publisher },
      { ...sampleInstance(90 + index), ephemeral: false, publisher },
    ])
    await commitAll(
      store,
      serviceSaved(service),
      ...records.map((record) => instanceSaved(service, record, true)),
    )
    store = await bench.reopen(store)
    const loaded = (await store.load()).instances.map(({ record }) => record)
    expect(loaded.toSorted((a, b) => a.serial - b.serial)).toEqual(
      records.toSorted((a, b) => a.serial - b.serial),
    )
  })

  test('many instances in one commit all come back', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const records = Array.from({ length: 5_123 }, (_, index) => sampleInstance(index + 1))
    await store.commit([
      [serviceSaved(service), ...records.map((record) => instanceSaved(service, record, true))],
    ])
    store = await bench.reopen(store)
    const { instances } = await store.load()
    expect(instances.map(({ record }) => record)).toEqual(records)
  })
}
