import { expect, test } from 'vitest'
import { isItemId } from '../../src/core/stamps.ts'
import { commitAll, deleted, publishAll, published, sampleKey, START_MS } from './samples.ts'
import type { StoreBench } from './store-contract.ts'

/** What history answers of an item. */
export function historyContract(bench: StoreBench): void {
  test('every record has its text: the new one for I, the one before for U, the deleted one for D', async () => {
    let store = await bench.fresh()
    const key = sampleKey('a')
    const one = published(key, {
      content: 'one',
      type: 'json',
      notes: { appName: 'x', encryptedDataKey: 'k1' },
    })
    await commitAll(store, one)
    const two = published(key, { content: 'two', previous: one.item, atMs: START_MS + 1 })
    await commitAll(store, two)
    const end = deleted(two.item, START_MS + 2)
    await commitAll(store, end)
    store = await bench.reopen(store)

    const answered = {
      content: one.item.content,
      md5: one.item.md5,
      type: 'json',
      appName: 'x',
      encryptedDataKey: 'k1',
    }
    const by = { key, srcIp: '10.1.2.3', srcUser: 'ada' }
    expect(await store.historyRecord(one.item.historyId)).toEqual({
      id: one.item.historyId,
      op: 'I',
      atMs: START_MS,
      ...by,
      ...answered,
    })
    expect(await store.historyRecord(two.item.historyId)).toEqual({
      id: two.item.historyId,
      op: 'U',
      atMs: START_MS + 1,
      ...by,
      ...answered,
    })
    expect(await store.historyRecord(end.historyId)).toMatchObject({
      id: end.historyId,
      op: 'D',
      atMs: START_MS + 2,
      md5: two.item.md5,
      content: two.item.content,
    })
  })

  test('a page has the newest records first, and the total count', async () => {
    const store = await bench.fresh()
    await publishAll(store, sampleKey('other'), ['x'])
    const versions = await publishAll(store, sampleKey('a'), ['1', '2', '3', '4', '5'])
    const ids = versions.map((item) => item.historyId).reverse()
    const page = async (pageNo: number, pageSize: number) => {
      const { totalCount, entries } = await store.history(sampleKey('a'), { pageNo, pageSize })
      expect(totalCount).toBe(5)
      return entries.map((entry) => entry.id)
    }
    expect(await page(1, 2)).toEqual(ids.slice(0, 2))
    expect(await page(3, 2)).toEqual(ids.slice(4))
    expect(await page(4, 2)).toEqual([])
    expect(await page(1, 500)).toEqual(ids)
  })

  test('an entry of a page equals its record, without content and md5', async () => {
    const store = await bench.fresh()
    await publishAll(store, sampleKey('a'), ['1', '2'])
    const { entries } = await store.history(sampleKey('a'), { pageNo: 1, pageSize: 10 })
    for (const entry of entries) {
      const record = await store.historyRecord(entry.id)
      const { content: _content, md5: _md5, ...facts } = record ?? { content: undefined, md5: undefined }
      expect(entry).toEqual(facts)
    }
  })

  test('an unknown item has no history', async () => {
    const store = await bench.fresh()
    expect(await store.history(sampleKey('none'), { pageNo: 1, pageSize: 10 })).toEqual({
      totalCount: 0,
      entries: [],
    })
    expect(await store.historyRecord(12_345)).toBeUndefined()
    expect(await store.historyBefore(sampleKey('none'), 5)).toBeUndefined()
    expect(await store.lastUpdate(sampleKey('none'), 5)).toBeUndefined()
  })

  test('the record before a record is of the same item', async () => {
    const store = await bench.fresh()
    const [first] = await publishAll(store, sampleKey('a'), ['1'])
    await publishAll(store, sampleKey('b'), ['x', 'y'])
    const second = published(sampleKey('a'), { content: '2', previous: first })
    await commitAll(store, second)
    const before = await store.historyBefore(sampleKey('a'), second.item.historyId)
    expect(before?.id).toBe(first?.historyId)
    expect(await store.historyBefore(sampleKey('a'), before?.id ?? 0)).toBeUndefined()
  })

  test('the last update is of this item, not of an earlier item of its name', async () => {
    const store = await bench.fresh()
    const [, old] = await publishAll(store, sampleKey('a'), ['1', '2'])
    if (old === undefined) throw new Error('no version')
    expect((await store.lastUpdate(sampleKey('a'), old.origin.id))?.id).toBe(old.historyId)
    await commitAll(store, deleted(old))
    const again = published(sampleKey('a'), { content: '3' })
    await commitAll(store, again)
    expect(await store.lastUpdate(sampleKey('a'), again.item.origin.id)).toBeUndefined()
    const update = published(sampleKey('a'), { content: '4', previous: again.item })
    await commitAll(store, update)
    expect((await store.lastUpdate(sampleKey('a'), again.item.origin.id))?.content.toString()).toBe('3')
  })

  test('ids of items and records rise, never meet and are not used again after a restart', async () => {
    let store = await bench.fresh()
    const ids: number[] = []
    for (let round = 0; round < 4; round++) {
      const change = published(sampleKey(`item-${round}`), { content: 'x' })
      await commitAll(store, change)
      expect(isItemId(change.item.origin.id)).toBe(true)
      expect(isItemId(change.item.historyId)).toBe(false)
      const end = deleted(change.item, START_MS)
      await commitAll(store, end)
      ids.push(change.item.origin.id, change.item.historyId, end.historyId)
      store = await bench.reopen(store)
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  })
}
