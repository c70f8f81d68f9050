import { expect, test } from 'vitest'
import type { ConfigPublished } from '../../src/core/changes.ts'
import { msOf } from '../../src/core/stamps.ts'
import {
  commitAll,
  instanceSaved,
  published,
  sampleInstance,
  sampleKey,
  sampleService,
  serviceSaved,
  START_MS,
} from './samples.ts'
import type { StoreBench } from './store-contract.ts'
import { LOCAL_SWITCH } from '../../src/core/operator/switch-records.ts'
import { recordSaved } from '../../src/core/records/record-kind.ts'

/** What a commit promises as a whole, and what outlives a restart besides. */
export function commitContract(bench: StoreBench): void {
  test('one group that cannot be written is named, and nothing of the batch is kept', async () => {
    let store = await bench.fresh()
    const good = (name: string) => [published(sampleKey(name), { content: name })]
    const bad = [...good('x'), unwritable(published(sampleKey('bad'), { content: 'bad' }))]
    const result = await store.commit([good('a'), good('b'), bad, good('c')])
    expect(result).toMatchObject({ kind: 'failed', group: 2 })
    expect(await store.commit([good('a'), good('b'), good('c')])).toMatchObject({ kind: 'committed' })
    store = await bench.reopen(store)
    const names = (await store.load()).configs.map((item) => item.key.dataId)
    expect(names.sort()).toEqual(['a', 'b', 'c'])
    expect((await store.history(sampleKey('x'), { pageNo: 1, pageSize: 1 })).totalCount).toBe(0)
  })

  test('a bad group among many small ones is found', async () => {
    const store = await bench.fresh()
    const service = sampleService('shop', 1)
    const groups = Array.from({ length: 120 }, (_, index) => [
      instanceSaved(service, sampleInstance(index + 1), true),
    ])
    groups[77] = [instanceSaved(service, { ...sampleInstance(78), weight: Number.NaN }, true)]
    expect(await store.commit([[serviceSaved(service)], ...groups])).toMatchObject({
      kind: 'failed',
      group: 78,
    })
    expect((await store.load()).services).toEqual([])
  })

  test('an empty commit, and a commit of local changes, succeed', async () => {
    const store = await bench.fresh()
    expect(await store.commit([])).toMatchObject({ kind: 'committed' })
    const local = recordSaved(LOCAL_SWITCH, { id: 'checkTimes', value: 1, stamp: 0 })
    expect(await store.commit([[], [local]])).toMatchObject({ kind: 'committed' })
  })

  test('concurrent commits are stored in order', async () => {
    let store = await bench.fresh()
    const changes: ConfigPublished[] = []
    for (let round = 0; round < 50; round++) {
      changes.push(published(sampleKey('a'), { content: `v${round}`, previous: changes.at(-1)?.item }))
    }
    await Promise.all(changes.map((change) => store.commit([[change]])))
    store = await bench.reopen(store)
    expect((await store.load()).configs[0]?.content.toString()).toBe('v49')
  })

  test('the caller may reuse its memory after commit is called', async () => {
    const store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'kept' })
    const done = store.commit([[change]])
    change.item.content.fill(0)
    await done
    expect((await store.load()).configs[0]?.content.toString()).toBe('kept')
  })

  test('the time after a restart is not before any earlier time', async () => {
    let store = await bench.fresh()
    for (const atMs of [START_MS, START_MS + 500, START_MS + 2_500, START_MS + 100]) {
      await commitAll(store, published(sampleKey(`at-${atMs}`), { content: 'x', atMs }))
    }
    store = await bench.reopen(store)
    expect(msOf((await store.load()).largestStamp)).toBeGreaterThanOrEqual(START_MS + 2_500)
  })

  test('a remembered value is recalled', async () => {
    let store = await bench.fresh()
    expect(await store.recall('clock')).toBeUndefined()
    await store.remember('clock', '1')
    await store.remember('clock', '2')
    store = await bench.reopen(store)
    expect(await store.recall('clock')).toBe('2')
  })

  test('a closed store refuses commits', async () => {
    const store = await bench.fresh()
    const pending = store.commit([[published(sampleKey('a'), { content: 'x' })]])
    await store.close()
    expect(await pending).toMatchObject({ kind: 'committed' })
    await store.close()
    await expect(store.commit([])).rejects.toMatchObject({ code: 'store-unavailable' })
    await expect(store.historyRecord(1)).rejects.toMatchObject({ code: 'store-unavailable' })
  })
}

/** As a fault in a decision might make it: a value that no store can keep. */
function unwritable(change: ConfigPublished): ConfigPublished {
  return { ...change, item: { ...change.item, md5: undefined as unknown as string } }
}
