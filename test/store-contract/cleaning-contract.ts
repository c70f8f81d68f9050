import { expect, test } from 'vitest'
import type { ContractStore, StoreBench } from './contract-store.ts'
import { deleted, published, sampleKey, START_MS, writeVersions } from './samples.ts'

const ALL = { beforeMs: START_MS + 1_000_000, keep: 0, most: 100 }

/** The records that cleaning removes, and the records that it must keep. */
export function cleaningContract(bench: StoreBench): void {
  test('an existing item keeps its newest records with their contents', async () => {
    let store = await bench.fresh()
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2', '3', '4', '5'])
    expect(await clean(store, { ...ALL, keep: 2 })).toBe(3)
    store = await bench.reopen(store)
    expect(await contentsOf(store, 'a')).toEqual(['4', '3'])
    expect(await store.reads.historyRecord(versions[2]?.historyId ?? 0)).toBeUndefined()
    expect(await store.reads.historyBefore(sampleKey('a'), versions[3]?.historyId ?? 0)).toBeUndefined()
    expect((await store.load()).configs[0]?.content.toString()).toBe('5')
  })

  test('a second cleaning continues after the first', async () => {
    const store = await bench.fresh()
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2', '3'])
    expect(await clean(store, { ...ALL, keep: 1 })).toBe(2)
    const next = published(sampleKey('a'), { content: '4', previous: versions[2] })
    await store.write(next)
    expect(await clean(store, { ...ALL, keep: 1 })).toBe(1)
    expect(await contentsOf(store, 'a')).toEqual(['3'])
    expect(await clean(store, { ...ALL, keep: 1 })).toBe(0)
  })

  test('records that are not older than the limit stay', async () => {
    const store = await bench.fresh()
    await writeVersions(store, sampleKey('a'), ['1', '2', '3', '4'])
    expect(await clean(store, { beforeMs: START_MS + 2_000, keep: 1, most: 100 })).toBe(2)
    expect(await contentsOf(store, 'a')).toEqual(['3', '2'])
  })

  test('an item without records keeps its content', async () => {
    let store = await bench.fresh()
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2'])
    expect(await clean(store, ALL)).toBe(2)
    store = await bench.reopen(store)
    expect((await store.load()).configs[0]?.content.toString()).toBe('2')
    expect(await contentsOf(store, 'a')).toEqual([])
    await store.write(published(sampleKey('a'), { content: '3', previous: versions[1] }))
    expect(await contentsOf(store, 'a')).toEqual(['2'])
  })

  test('all records of a deleted item are removed, and its ids are not used again', async () => {
    let store = await bench.fresh()
    const [item] = await writeVersions(store, sampleKey('a'), ['1'])
    if (item === undefined) throw new Error('no version')
    const end = deleted(item)
    await store.write(end)
    expect(await clean(store, { ...ALL, keep: 20 })).toBe(2)
    expect(await contentsOf(store, 'a')).toEqual([])
    store = await bench.reopen(store)
    const again = published(sampleKey('a'), { content: '1' })
    await store.write(again)
    expect(again.item.origin.id).toBeGreaterThan(end.historyId)
  })

  test('the record of a deletion keeps its content when earlier records are removed', async () => {
    const store = await bench.fresh()
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2', '3'])
    const last = versions[2]
    if (last === undefined) throw new Error('no version')
    await store.write(deleted(last, START_MS + 60_000))
    expect(await clean(store, { beforeMs: START_MS + 50_000, keep: 20, most: 100 })).toBe(3)
    expect(await contentsOf(store, 'a')).toEqual(['3'])
  })

  test('one step removes at most its limit, and the steps end', async () => {
    const store = await bench.fresh()
    for (const name of ['a', 'b', 'c']) await writeVersions(store, sampleKey(name), ['1', '2', '3', '4'])
    let removed = 0
    for (let steps = 0; ; steps++) {
      expect(steps).toBeLessThan(20)
      const step = await store.kept.cleanHistory({ ...ALL, keep: 1, most: 2 })
      expect(step.removed).toBeLessThanOrEqual(2)
      removed += step.removed
      if (!step.more) break
    }
    expect(removed).toBe(9)
    for (const name of ['a', 'b', 'c']) expect(await contentsOf(store, name)).toEqual(['3'])
  })
}

async function clean(
  store: ContractStore,
  limit: { beforeMs: number; keep: number; most: number },
): Promise<number> {
  let removed = 0
  for (let more = true; more;) {
    const step = await store.kept.cleanHistory(limit)
    removed += step.removed
    more = step.more
  }
  return removed
}

async function contentsOf(store: ContractStore, dataId: string): Promise<(string | undefined)[]> {
  const { totalCount, entries } = await store.reads.history([sampleKey(dataId)], { pageNo: 1, pageSize: 500 })
  expect(totalCount).toBe(entries.length)
  const records = await Promise.all(entries.map((entry) => store.reads.historyRecord(entry.id)))
  return records.map((record) => record?.content.toString())
}
