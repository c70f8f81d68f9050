import { expect, test } from 'vitest'
import { instanceSaved, sampleInstance, sampleService, serviceSaved } from './samples.ts'
import type { StoreBench } from './contract-store.ts'

/** The reaction of a store to a change that it can never write. */
export function unwritableContract(bench: StoreBench): void {
  test('what cannot be written fails its caller, and leaves nothing', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 1)
    const bad = { ...sampleInstance(81), weight: Number.NaN }
    await store.write(serviceSaved(service), instanceSaved(service, sampleInstance(80), true))
    await expect(store.write(instanceSaved(service, bad, true))).rejects.toBeInstanceOf(Error)
    await store.write(instanceSaved(service, sampleInstance(82), true))
    store = await bench.reopen(store)
    const { instances } = await store.load()
    expect(instances.map(({ record }) => record.address.port).sort()).toEqual([80, 82])
  })
}
