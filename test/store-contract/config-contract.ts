import { expect, test } from 'vitest'
import { configKey } from '../../src/core/config/state/config-item.ts'
import { deleted, published, sampleKey, START_MS } from './samples.ts'
import type { StateStore, StoreBench } from './contract-store.ts'

/** Configuration items come back as they were committed. */
export function configContract(bench: StoreBench<StateStore>): void {
  test('a new store is empty', async () => {
    const store = await bench.fresh()
    const empty = { configs: [], services: [], instances: [], records: [] }
    expect(await store.load()).toMatchObject({ ...empty, largestStamp: 0 })
  })

  test('a published item comes back with all its fields', async () => {
    let store = await bench.fresh()
    const notes = { appName: 'shop', desc: 'd', use: 'u', effect: 'e', schema: 's', configTags: 'a,b' }
    const change = published(configKey('dev', 'G+1', 'naïve %.json'), {
      content: 'a\r\nb\0ü',
      type: 'json',
      notes: { ...notes, encryptedDataKey: 'key' },
    })
    await store.write(change)
    store = await bench.reopen(store)
    expect((await store.load()).configs).toEqual([change.item])
  })

  test('notes with any character come back unchanged', async () => {
    let store = await bench.fresh()
    const change = published(sampleKey('a'), {
      content: '',
      notes: { desc: 'a\0b', use: '\u0002\u{1f600}"\n' },
    })
    await store.write(change)
    store = await bench.reopen(store)
    expect((await store.load()).configs[0]?.notes).toEqual(change.item.notes)
  })

  test('contents come back byte for byte, from empty to 10 MiB', async () => {
    let store = await bench.fresh()
    const contents = [0, 1, 8_191, 300_000, 10 * 1024 * 1024].map((size) => Buffer.alloc(size, 'ÿ€'))
    const changes = contents.map((content, index) => published(sampleKey(`size-${index}`), { content }))
    await store.write(...changes)
    store = await bench.reopen(store)
    const { configs } = await store.load()
    for (const change of changes) {
      const found = configs.find((item) => item.key.dataId === change.item.key.dataId)
      expect(found?.content.equals(change.item.content)).toBe(true)
    }
  })

  test('an update replaces the version and keeps the origin', async () => {
    let store = await bench.fresh()
    const first = published(sampleKey('a'), { content: 'one' })
    await store.write(first)
    const second = published(sampleKey('a'), { content: 'two', previous: first.item, atMs: START_MS + 5 })
    await store.write(second)
    store = await bench.reopen(store)
    const { configs } = await store.load()
    expect(configs).toEqual([second.item])
    expect(configs[0]?.origin.id).toBe(first.item.origin.id)
  })

  test('an item can be created, changed, deleted and created again in one commit', async () => {
    let store = await bench.fresh()
    const one = published(sampleKey('a'), { content: 'one' })
    const two = published(sampleKey('a'), { content: 'two', previous: one.item })
    const end = deleted(two.item)
    const again = published(sampleKey('a'), { content: 'three' })
    await store.write(one, two, end, again)
    store = await bench.reopen(store)
    expect((await store.load()).configs).toEqual([again.item])
  })

  test('a deleted item does not come back', async () => {
    let store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'one' })
    await store.write(change)
    await store.write(deleted(change.item))
    store = await bench.reopen(store)
    expect((await store.load()).configs).toEqual([])
  })
}
