import { expect, test } from 'vitest'
import { isItemId } from '../../src/core/decisions/stamps.ts'
import { deleted, imported, published, sampleKey, START_MS, writeVersions } from './samples.ts'
import type { StoreBench } from './contract-store.ts'

/** The answer of history about an item. */
export function historyContract(bench: StoreBench): void {
  test('every record has its text: the new one for I, the one before for U, the deleted one for D', async () => {
    let store = await bench.fresh()
    const key = sampleKey('a')
    const one = published(key, {
      content: 'one',
      type: 'json',
      notes: { appName: 'x', encryptedDataKey: 'k1' },
    })
    await store.write(one)
    const two = published(key, { content: 'two', previous: one.item, atMs: START_MS + 1 })
    await store.write(two)
    const end = deleted(two.item, START_MS + 2)
    await store.write(end)
    store = await bench.reopen(store)

    const answered = {
      content: one.item.content,
      md5: one.item.md5,
      type: 'json',
      appName: 'x',
      encryptedDataKey: 'k1',
    }
    const by = { key, srcIp: '10.1.2.3', srcUser: 'ada' }
    expect(await store.reads.historyThere([one.item.historyId, 7])).toEqual([one.item.historyId])
    expect(await store.reads.historyRecord(one.item.historyId)).toEqual({
      id: one.item.historyId,
      op: 'I',
      atMs: START_MS,
      ...by,
      ...answered,
    })
    expect(await store.reads.historyRecord(two.item.historyId)).toEqual({
      id: two.item.historyId,
      op: 'U',
      atMs: START_MS + 1,
      ...by,
      ...answered,
    })
    expect(await store.reads.historyRecord(end.historyId)).toMatchObject({
      id: end.historyId,
      op: 'D',
      atMs: START_MS + 2,
      md5: two.item.md5,
      content: two.item.content,
    })
  })

  test('a record that was imported has its own text, also after the item has come', async () => {
    let store = await bench.fresh()
    const key = sampleKey('past')
    const large = Buffer.alloc(400 * 1024, 'x')
    const contents = [large, Buffer.from('one'), Buffer.from('two')]
    const [first, second, third] = [
      imported(key, { op: 'I', content: contents[0]!, atMs: 1_000, srcUser: null }),
      imported(key, { op: 'U', content: contents[1]!, atMs: 2_000 }),
      imported(key, { op: 'D', content: contents[2]!, atMs: 3_000 }),
    ]
    await store.write(first!, second!, third!)
    expect((await store.load()).configs).toEqual([])
    store = await bench.reopen(store)
    const item = published(key, { content: 'now' })
    await store.write(item)
    const next = published(key, { content: 'next', previous: item.item })
    await store.write(next)
    store = await bench.reopen(store)
    expect((await store.load()).configs.map(({ content }) => content.toString())).toEqual(['next'])
    for (const { record } of [first!, second!, third!])
      expect(await store.reads.historyRecord(record.id)).toEqual(record)
    const { totalCount, entries } = await store.reads.history([key], { pageNo: 1, pageSize: 10 })
    expect(totalCount).toBe(5)
    expect(entries.slice(2)).toEqual(
      [third!, second!, first!].map(({ record: { content, ...facts } }) => ({
        ...facts,
        size: content.length,
      })),
    )
    const { removed } = await store.kept.cleanHistory({ beforeMs: 2_500, keep: 1, most: 100 })
    expect(removed).toBe(2)
    expect((await store.reads.history([key], { pageNo: 1, pageSize: 10 })).totalCount).toBe(3)
    expect(await store.reads.historyRecord(third!.record.id)).toEqual(third!.record)
  })

  test('a record has its note in lists and alone, and an item the mark of its import after the record is gone', async () => {
    let store = await bench.fresh()
    const key = sampleKey('noted')
    const first = published(key, { content: 'one' })
    const mark = { importedId: '', importedUpTo: '7' }
    const brought = published(key, { content: 'two', previous: first.item, atMs: START_MS + 1 })
    const marked = { ...brought, item: { ...brought.item, imported: mark } }
    const short = published(sampleKey('other'), { content: 'x' })
    const other = { ...deleted(short.item), comment: 'gone' }
    await store.write({ ...first, comment: 'why' }, marked)
    await store.write(short, other)
    store = await bench.reopen(store)
    const { entries } = await store.reads.history([key], { pageNo: 1, pageSize: 10 })
    expect(entries.map(({ note }) => note)).toEqual([mark, { comment: 'why' }])
    for (const { id, note } of entries) expect((await store.reads.historyRecord(id))?.note).toEqual(note)
    expect((await store.reads.historyRecord(other.historyId))?.note).toEqual({ comment: 'gone' })
    expect((await store.load()).configs.map(({ imported: found }) => found)).toEqual([mark])
    await store.kept.cleanHistory({ beforeMs: START_MS + 10, keep: 0, most: 100 })
    store = await bench.reopen(store)
    expect((await store.load()).configs.map(({ imported: found }) => found)).toEqual([mark])
    const changed = published(key, { content: 'three', previous: marked.item, atMs: START_MS + 2 })
    await store.write(changed)
    store = await bench.reopen(store)
    expect((await store.load()).configs.map(({ imported: found }) => found)).toEqual([undefined])
  })

  test('a page has the newest records first, and the total count', async () => {
    const store = await bench.fresh()
    await writeVersions(store, sampleKey('other'), ['x'])
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2', '3', '4', '5'])
    const ids = versions.map((item) => item.historyId).reverse()
    const page = async (pageNo: number, pageSize: number) => {
      const { totalCount, entries } = await store.reads.history([sampleKey('a')], { pageNo, pageSize })
      expect(totalCount).toBe(5)
      return entries.map((entry) => entry.id)
    }
    expect(await page(1, 2)).toEqual(ids.slice(0, 2))
    expect(await page(3, 2)).toEqual(ids.slice(4))
    expect(await page(4, 2)).toEqual([])
    expect(await page(1, 500)).toEqual(ids)
  })

  test('a page of several histories is one list, newest first, with the totals of all', async () => {
    const store = await bench.fresh()
    const [one, other, none] = [sampleKey('a'), sampleKey('b'), sampleKey('none')]
    const ids: number[] = []
    let versions = await writeVersions(store, one, ['1', '2'])
    ids.push(...versions.map(({ historyId }) => historyId))
    versions = await writeVersions(store, other, ['x', 'y', 'z'])
    ids.push(...versions.map(({ historyId }) => historyId))
    const last = published(one, { content: '3' })
    await store.write(last)
    ids.push(last.item.historyId)
    ids.reverse()
    for (const pageSize of [1, 2, 4, 10])
      for (let pageNo = 1; (pageNo - 1) * pageSize <= ids.length; pageNo++) {
        const page = await store.reads.history([one, none, other], { pageNo, pageSize })
        expect(page.totalCount).toBe(6)
        expect(page.entries.map(({ id }) => id)).toEqual(
          ids.slice((pageNo - 1) * pageSize, pageNo * pageSize),
        )
        for (const { id, key } of page.entries)
          expect(key.text).toBe((versions.some(({ historyId }) => historyId === id) ? other : one).text)
      }
  })

  test('totals and pages follow new records and cleaning', async () => {
    let store = await bench.fresh()
    const key = sampleKey('a')
    const contents = Array.from({ length: 12 }, (_, at) => String(at))
    const items = await writeVersions(store, key, contents)
    const total = async () => (await store.reads.history([key], { pageNo: 2, pageSize: 2 })).totalCount
    expect(await total()).toBe(12)
    await store.write(published(key, { content: 'next', previous: items.at(-1) }))
    expect(await total()).toBe(13)
    expect(await store.kept.cleanHistory({ beforeMs: START_MS + 1e9, keep: 5, most: 100 })).toMatchObject({
      removed: 8,
    })
    expect(await total()).toBe(5)
    const { entries } = await store.reads.history([key], { pageNo: 3, pageSize: 2 })
    expect(entries.map(({ id }) => id)).toEqual([items[8]!.historyId])
    store = await bench.reopen(store)
    expect(await total()).toBe(5)
  })

  test('the entry after a record is the next one of the same item', async () => {
    const store = await bench.fresh()
    const versions = await writeVersions(store, sampleKey('a'), ['1', '2', '3'])
    await writeVersions(store, sampleKey('b'), ['x'])
    const ids = versions.map(({ historyId }) => historyId)
    const after = async (id: number) => (await store.reads.historyAfter(sampleKey('a'), id))?.id
    expect([await after(1), await after(ids[0]!), await after(ids[1]!)]).toEqual(ids)
    expect(await after(ids[2]!)).toBeUndefined()
    const { entries } = await store.reads.history([sampleKey('a')], { pageNo: 1, pageSize: 2 })
    expect(await store.reads.historyAfter(sampleKey('a'), ids[1]!)).toEqual(entries[0])
  })

  test('versions have the users of their records', async () => {
    const store = await bench.fresh()
    const [one] = await writeVersions(store, sampleKey('a'), ['1'])
    const nobody = imported(sampleKey('b'), { content: Buffer.from('x'), srcUser: null })
    await store.write(nobody)
    const authors = await store.reads.authors([
      { key: sampleKey('a'), historyId: one!.historyId },
      { key: sampleKey('b'), historyId: nobody.record.id },
      { key: sampleKey('c'), historyId: 12_345 },
    ])
    expect([...authors].toSorted(([a], [b]) => a - b)).toEqual([
      [one!.historyId, 'ada'],
      [nobody.record.id, null],
    ])
  })

  test('an entry of a page equals its record, with the size instead of the content', async () => {
    const store = await bench.fresh()
    await writeVersions(store, sampleKey('a'), ['1', '2'])
    const { entries } = await store.reads.history([sampleKey('a')], { pageNo: 1, pageSize: 10 })
    for (const entry of entries) {
      const record = await store.reads.historyRecord(entry.id)
      const { content, ...facts } = record ?? { content: undefined }
      expect(entry).toEqual({ ...facts, size: content?.length })
    }
  })

  test('every change of one commit has its record', async () => {
    let store = await bench.fresh()
    const one = published(sampleKey('a'), { content: 'one' })
    const two = published(sampleKey('a'), { content: 'two', previous: one.item })
    await store.write(one, two, deleted(two.item), published(sampleKey('a'), { content: 'three' }))
    store = await bench.reopen(store)
    const { entries } = await store.reads.history([sampleKey('a')], { pageNo: 1, pageSize: 10 })
    expect(entries.map((entry) => entry.op)).toEqual(['I', 'D', 'U', 'I'])
  })

  test('a record has a content of 10 MiB', async () => {
    let store = await bench.fresh()
    const content = Buffer.alloc(10 * 1024 * 1024, 'ÿ€')
    const one = published(sampleKey('a'), { content })
    const two = published(sampleKey('a'), { content: 'small', previous: one.item })
    await store.write(one)
    await store.write(two)
    store = await bench.reopen(store)
    for (const { historyId } of [one.item, two.item])
      expect((await store.reads.historyRecord(historyId))?.content.equals(content)).toBe(true)
  })

  test('an unknown item has no history', async () => {
    const store = await bench.fresh()
    expect(await store.reads.history([sampleKey('none')], { pageNo: 1, pageSize: 10 })).toEqual({
      totalCount: 0,
      entries: [],
    })
    expect(await store.reads.historyRecord(12_345)).toBeUndefined()
    expect(await store.reads.historyThere([12_345])).toEqual([])
    expect(await store.reads.historyBefore(sampleKey('none'), 5)).toBeUndefined()
    expect(await store.reads.historyAfter(sampleKey('none'), 5)).toBeUndefined()
    expect(await store.reads.lastUpdate(sampleKey('none'), 5)).toBeUndefined()
  })

  test('the record before a record is of the same item', async () => {
    const store = await bench.fresh()
    const [first] = await writeVersions(store, sampleKey('a'), ['1'])
    await writeVersions(store, sampleKey('b'), ['x', 'y'])
    const second = published(sampleKey('a'), { content: '2', previous: first })
    await store.write(second)
    const before = await store.reads.historyBefore(sampleKey('a'), second.item.historyId)
    expect(before?.id).toBe(first?.historyId)
    expect(await store.reads.historyBefore(sampleKey('a'), before?.id ?? 0)).toBeUndefined()
  })

  test('the last update is of this item, not of an earlier item of its name', async () => {
    const store = await bench.fresh()
    const [, old] = await writeVersions(store, sampleKey('a'), ['1', '2'])
    if (old === undefined) throw new Error('no version')
    expect((await store.reads.lastUpdate(sampleKey('a'), old.origin.id))?.id).toBe(old.historyId)
    await store.write(deleted(old))
    const again = published(sampleKey('a'), { content: '3' })
    await store.write(again)
    expect(await store.reads.lastUpdate(sampleKey('a'), again.item.origin.id)).toBeUndefined()
    const update = published(sampleKey('a'), { content: '4', previous: again.item })
    await store.write(update)
    expect((await store.reads.lastUpdate(sampleKey('a'), again.item.origin.id))?.content.toString()).toBe('3')
  })

  test('ids of items and records rise, never meet and are not used again after a restart', async () => {
    let store = await bench.fresh()
    const ids: number[] = []
    for (let round = 0; round < 4; round++) {
      const change = published(sampleKey(`item-${round}`), { content: 'x' })
      await store.write(change)
      expect(isItemId(change.item.origin.id)).toBe(true)
      expect(isItemId(change.item.historyId)).toBe(false)
      const end = deleted(change.item, START_MS)
      await store.write(end)
      ids.push(change.item.origin.id, change.item.historyId, end.historyId)
      store = await bench.reopen(store)
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b))
  })
}
