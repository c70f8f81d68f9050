import { expect, test } from 'vitest'
import type { ConfigPublished } from '../../src/core/decisions/changes.ts'
import { msOf, stampOfId } from '../../src/core/decisions/stamps.ts'
import { deepFrozen, deleted, published, sampleKey, START_MS } from './samples.ts'
import type { StateStore, StoreBench } from './contract-store.ts'

/** The promises of writing, and the other data that outlives a restart. */
export function writeContract(bench: StoreBench<StateStore>): void {
  test('concurrent writes are stored in order', async () => {
    let store = await bench.fresh()
    const changes: ConfigPublished[] = []
    for (let round = 0; round < 50; round++) {
      changes.push(published(sampleKey('a'), { content: `v${round}`, previous: changes.at(-1)?.item }))
    }
    await Promise.all(changes.map((change) => store.write(change)))
    store = await bench.reopen(store)
    expect((await store.load()).configs[0]?.content.toString()).toBe('v49')
  })

  test('what is written is there after a crash', async () => {
    const store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'x' })
    await store.write(change)
    const after = await bench.crash(store)
    expect((await after.load()).configs).toEqual([change.item])
  })

  test('the time after a restart is not before any earlier time', async () => {
    let store = await bench.fresh()
    for (const atMs of [START_MS, START_MS + 500, START_MS + 2_500, START_MS + 100]) {
      await store.write(published(sampleKey(`at-${atMs}`), { content: 'x', atMs }))
    }
    store = await bench.reopen(store)
    expect(msOf((await store.load()).largestStamp)).toBeGreaterThanOrEqual(START_MS + 2_500)
  })

  test('no stamp that was used is larger than the largest, also where nothing is left of it', async () => {
    let store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'x' })
    const end = deleted(change.item)
    await store.write(change)
    await store.write(end)
    store = await bench.reopen(store)
    expect((await store.load()).largestStamp).toBeGreaterThanOrEqual(stampOfId(end.historyId))
  })

  test('a change that is written is not modified', async () => {
    const store = await bench.fresh()
    const one = published(sampleKey('a'), { content: 'one' })
    const two = published(sampleKey('a'), { content: 'two', previous: one.item })
    const changes = [one, two, deleted(two.item)].map(deepFrozen)
    const before = structuredClone(changes)
    await store.write(...changes)
    expect(structuredClone(changes)).toEqual(before)
  })
}
