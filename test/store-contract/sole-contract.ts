import { describe, expect, test } from 'vitest'
import type { ConfigPublished } from '../../src/core/decisions/changes.ts'
import { NAMESPACE } from '../../src/core/namespaces/namespace.ts'
import { LOCAL_SWITCH } from '../../src/core/switches/switch-records.ts'
import { recordRemoved, recordSaved } from '../../src/core/records/record-kind.ts'
import type { SoleContractStore, StoreBench } from './contract-store.ts'
import { randomChanges } from './random-changes-contract.ts'
import {
  ANY_EVENT,
  commitAll,
  deepFrozen,
  instanceSaved,
  published,
  sampleInstance,
  sampleEvent,
  sampleKey,
  sampleService,
  serviceKey,
  serviceSaved,
  writeVersions,
} from './samples.ts'

const SHOP = serviceKey('shop')

/** The promises of a store of one server only: its commits of groups, and its handling of records that are written behind. */
export function soleContract(bench: StoreBench<SoleContractStore>): void {
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
    expect((await store.reads.history([sampleKey('x')], { pageNo: 1, pageSize: 1 })).totalCount).toBe(0)
  })

  test('events of the audit that go with a commit are written with it, or not at all', async () => {
    let store = await bench.fresh()
    const [first, second] = [sampleEvent(), sampleEvent({ result: 'refused' })]
    const good = [published(sampleKey('a'), { content: 'a' })]
    const bad = [unwritable(published(sampleKey('bad'), { content: 'bad' }))]
    expect(await store.commit([good, bad], [first, second])).toMatchObject({ kind: 'failed', group: 1 })
    expect((await store.reads.findAudit(ANY_EVENT, 10)).events).toEqual([])
    expect(await store.commit([good], [first])).toMatchObject({ kind: 'committed' })
    expect(await store.commit([], [second, { ...first, count: 2 }])).toMatchObject({ kind: 'committed' })
    store = await bench.crash(store)
    expect((await store.reads.findAudit(ANY_EVENT, 10)).events).toEqual([second, { ...first, count: 2 }])
    const limit = { beforeMs: 0, keep: 1, keepRefused: 1, most: 10 }
    expect(await store.kept.cleanAudit(limit)).toEqual({ removed: 1, more: true })
  })

  test('a commit does not wait for the reads that were there before it', async () => {
    const store = await bench.fresh()
    await writeVersions(store, sampleKey('a'), ['1', '2', '3'])
    let answered = 0
    const reads = Array.from({ length: 400 }, async (_, at) => {
      await store.kept.reads(`user ${at % 4}`).history([sampleKey('a')], { pageNo: 1, pageSize: 500 })
      answered++
    })
    for (let at = 0; at < 5; at++) {
      await new Promise((resolve) => setImmediate(resolve))
      const before = answered
      await store.write(published(sampleKey(`b${at}`), { content: 'x' }))
      // The slice that was under way, and one that was asked for as it ended.
      expect(answered - before).toBeLessThanOrEqual(2)
    }
    expect(answered).toBeLessThan(50)
    await Promise.all(reads)
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

  test('the caller may reuse its memory after commit is called', async () => {
    const store = await bench.fresh()
    const change = published(sampleKey('a'), { content: 'kept' })
    const done = store.commit([[change]])
    change.item.content.fill(0)
    await done
    expect((await store.load()).configs[0]?.content.toString()).toBe('kept')
  })

  test('a closed store refuses commits', async () => {
    const store = await bench.fresh()
    const pending = store.commit([[published(sampleKey('a'), { content: 'x' })]])
    await store.close()
    expect(await pending).toMatchObject({ kind: 'committed' })
    await store.close()
    await expect(store.commit([])).rejects.toMatchObject({ code: 'stopping' })
    await expect(store.reads.historyRecord(1)).rejects.toMatchObject({ code: 'stopping' })
  })

  test('local records are not kept', async () => {
    let store = await bench.fresh()
    const local = recordSaved(LOCAL_SWITCH, { id: 'checkTimes', value: 9, stamp: 0 })
    await commitAll(store, local, recordRemoved(LOCAL_SWITCH, 'pushEnabled', 0))
    store = await bench.reopen(store)
    expect((await store.load()).records).toEqual([])
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

  test('an instance comes back with its serial', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80), true))
    store = await bench.reopen(store)
    const { services, instances } = await store.load()
    expect([services[0]?.serial, instances[0]?.record.serial]).toEqual([7, 80])
  })

  test('it knows which services and instances it has, and which it may have', async () => {
    let store = await bench.fresh()
    const service = sampleService('shop', 7)
    const saved = [serviceSaved(service), instanceSaved(service, sampleInstance(80), true)]
    const answers = () => [7, 80].map((serial) => [store.mayHave(serial), store.surelyHas(serial)])
    const [none, perhaps, all] = [
      [false, false],
      [true, false],
      [true, true],
    ]
    await store.load()
    expect(answers()).toEqual([none, none])
    const bad = unwritable(published(sampleKey('bad'), { content: 'bad' }))
    expect(await store.commit([saved, [bad]])).toMatchObject({ kind: 'failed' })
    await commitAll(store)
    expect(answers(), 'a batch that was not written').toEqual([none, none])
    const written = commitAll(store, ...saved)
    expect(answers(), 'a commit that is underway').toEqual([perhaps, perhaps])
    await written
    expect(answers()).toEqual([all, all])
    const { key, serial } = service
    const at = { serviceKey: key, address: sampleInstance(80).address, serial: 80 }
    const removed = commitAll(store, { kind: 'instance-removed', ...at, reason: 'expired', stamp: 0 })
    expect(answers(), 'a removal that is underway').toEqual([all, all])
    await removed
    expect(answers()).toEqual([all, none])
    store = await bench.reopen(store)
    await store.load()
    expect(answers()).toEqual([all, none])
    await commitAll(store, { kind: 'service-deleted', key, serial })
    expect(answers()).toEqual([none, none])
  })

  test('every commit has a later revision than those before it, over restarts too', async () => {
    let store = await bench.fresh()
    const revisions: number[] = []
    for (let round = 0; round < 3; round++) {
      revisions.push((await store.load()).revision)
      for (const name of ['a', 'b']) {
        revisions.push(await commitAll(store, published(sampleKey(`${name}-${round}`), { content: 'x' })))
      }
      revisions.push(await commitAll(store))
      revisions.push(await commitAll(store, recordRemoved(NAMESPACE, 'dev', 0)))
      const service = sampleService('shop', 1)
      revisions.push(
        await commitAll(store, serviceSaved(service), instanceSaved(service, sampleInstance(80))),
      )
      store = await bench.reopen(store)
    }
    const rising = revisions.every((revision, at) => at === 0 || revision > (revisions[at - 1] ?? 0))
    expect(rising, revisions.join(' ')).toBe(true)
  })

  test('a snapshot has the revision of the last commit', async () => {
    let store = await bench.fresh()
    const revision = await commitAll(store, published(sampleKey('a'), { content: 'x' }))
    expect((await store.load()).revision).toBe(revision)
    store = await bench.reopen(store)
    expect((await store.load()).revision).toBeGreaterThanOrEqual(revision)
  })

  test('a commit that fails modifies no change', async () => {
    const store = await bench.fresh()
    const bad = deepFrozen(published(sampleKey('bad'), { content: 'x', type: Number.NaN as never }))
    const before = structuredClone(bad)
    expect(await store.commit([[bad]])).toMatchObject({ kind: 'failed', group: 0 })
    expect(structuredClone(bad)).toEqual(before)
  })

  test('the commit of a record that is written behind does not change the state', async () => {
    const server = await (await bench.fresh()).serve()
    for (let port = 1; port <= 50; port++) await server.register(SHOP, port)
    const entry = server.state.services.get(SHOP)
    const before = [entry?.version, entry?.lastRefMs, server.hosts(SHOP)]
    await server.flush()
    expect([entry?.version, entry?.lastRefMs, server.hosts(SHOP)]).toEqual(before)
  })

  describe('with batches that fail', () => {
    randomChanges(bench, async (store, changes) => {
      const bad = unwritable(published(sampleKey('bad'), { content: 'x' }))
      const result = await store.commit([...changes, bad].map((one) => [one]))
      expect(result).toMatchObject({ kind: 'failed', group: changes.length })
    })
  })
}

/** As a fault in a decision might make it: a value that no store can keep. */
function unwritable(change: ConfigPublished): ConfigPublished {
  return { ...change, item: { ...change.item, md5: undefined as unknown as string } }
}
