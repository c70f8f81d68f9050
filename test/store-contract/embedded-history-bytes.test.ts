import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { ConfigItem } from '../../src/core/config/state/config-item.ts'
import { type HistoryLimits, UNLIMITED_HISTORY } from '../../src/core/config/state/history-limits.ts'
import type { Store } from '../../src/core/engine/ports.ts'
import { SqliteConnection } from '../../src/store/embedded/database/connection.ts'
import { openEmbeddedStore } from '../../src/store/embedded/embedded-store.ts'
import { HistorySize } from '../../src/store/embedded/history/history-size.ts'
import { randomFrom } from '../faults/random.ts'
import { commitAll, deleted, imported, published, sampleKey, START_MS } from './samples.ts'

const log = { info() {}, warn() {}, error() {} }
const KIB = 1024
const SEED = 26

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'waypost-bytes-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

const open = (history: Partial<HistoryLimits> = {}): Promise<Store> =>
  openEmbeddedStore({ directory, log, history: { ...UNLIMITED_HISTORY, ...history } })

/** Publishes a version of `kib` KiB. */
async function publish(
  store: Store,
  dataId: string,
  ...[kib, previous]: [kib: number, previous?: ConfigItem | undefined]
): Promise<ConfigItem> {
  const content = `${Math.random()}`.padEnd(kib * KIB, 'x')
  const change = published(sampleKey(dataId), { content, previous })
  await commitAll(store, change)
  return change.item
}

async function recordsOf(store: Store, dataId: string): Promise<number> {
  return (await store.reads('test').history([sampleKey(dataId)], { pageNo: 1, pageSize: 100 })).totalCount
}

/** The bytes of history as the closed database has them noted, and as they are counted. */
function noted(): { stored: number; counted: number } {
  const connection = new SqliteConnection(join(directory, 'waypost.db'))
  try {
    const stored = new HistorySize(connection).total
    connection.run("DELETE FROM meta WHERE name = 'history_bytes'")
    return { stored, counted: new HistorySize(connection).total }
  } finally {
    connection.close()
  }
}

test('the history of an item is cut with its publish, oldest first, and its newest record stays', async () => {
  const store = await open({ maxBytesOfItem: 32 * KIB })
  let item = await publish(store, 'a', 10)
  for (let i = 0; i < 9; i++) item = await publish(store, 'a', 10, item)
  // Three contents of ten KiB that are not the current one.
  expect(await recordsOf(store, 'a')).toBe(3)
  item = await publish(store, 'a', 100, item)
  item = await publish(store, 'a', 100, item)
  expect(await recordsOf(store, 'a')).toBe(1)
  const [entry] = (await store.reads('test').history([sampleKey('a')], { pageNo: 1, pageSize: 1 })).entries
  expect((await store.reads('test').historyRecord(entry!.id))?.content.length).toBe(100 * KIB)
  await store.close()
})

test('of all items the oldest records go first, and the newest of each stays', async () => {
  const store = await open({ maxBytes: 64 * KIB })
  const first = new Map<string, ConfigItem>()
  for (const dataId of ['a', 'b', 'c']) first.set(dataId, await publish(store, dataId, 10))
  let item = first.get('a')!
  for (let i = 0; i < 12; i++) item = await publish(store, 'a', 10, item)
  expect(await recordsOf(store, 'a')).toBe(6)
  // Inserts of items whose only version they are.
  expect([await recordsOf(store, 'b'), await recordsOf(store, 'c')]).toEqual([1, 1])
  // A record that was the newest of its item becomes the oldest of all that may go.
  let other = await publish(store, 'b', 10, first.get('b'))
  expect([await recordsOf(store, 'a'), await recordsOf(store, 'b')]).toEqual([5, 1])
  other = await publish(store, 'b', 10, other)
  expect([await recordsOf(store, 'a'), await recordsOf(store, 'b')]).toEqual([4, 2])
  await store.close()
  expect(noted()).toSatisfy(({ stored, counted }) => stored === counted && counted <= 64 * KIB)
})

test('deleted items are cut too, so that the bin has a limit', async () => {
  const store = await open({ maxBytes: 64 * KIB })
  for (let i = 0; i < 10; i++) await commitAll(store, deleted(await publish(store, `d${i}`, 20)))
  const left = await Promise.all(Array.from({ length: 10 }, (_, i) => recordsOf(store, `d${i}`)))
  expect(left.slice(0, 7)).toEqual(left.slice(0, 7).map(() => 0))
  expect(left.slice(8)).toEqual([2, 2])
  await store.close()
})

test('a lowered limit is reached by cleaning, in steps', async () => {
  let store = await open()
  let item = await publish(store, 'a', 10)
  for (let i = 0; i < 30; i++) item = await publish(store, 'a', 10, item)
  await store.close()
  store = await open({ maxBytes: 100 * KIB })
  const { removed, more } = await store.cleanHistory({ beforeMs: 0, keep: 100, most: 100 })
  expect([removed > 15, more, await recordsOf(store, 'a')]).toEqual([true, false, 9])
  await store.close()
})

test('after any changes, refused commits, cleaning and restarts the bytes that are noted are those that are there', async () => {
  const random = randomFrom(SEED)
  const items = new Map<string, ConfigItem | undefined>()
  let store = await open({ maxBytes: 200 * KIB, maxBytesOfItem: 60 * KIB })
  for (let i = 0; i < 300; i++) {
    const dataId = `i${Math.floor(random() * 8)}`
    const item = items.get(dataId)
    const roll = random()
    if (roll < 0.15 && item !== undefined) {
      await commitAll(store, deleted(item))
      items.delete(dataId)
    } else if (roll < 0.2) {
      const bad = published(sampleKey(dataId), { content: 'x', previous: item, atMs: START_MS })
      const invalid = { ...bad, item: { ...bad.item, modifiedMs: Number.NaN } }
      expect((await store.commit([[invalid]])).kind).toBe('failed')
    } else if (roll < 0.25) await store.cleanHistory({ beforeMs: START_MS + 1, keep: 2, most: 5 })
    else if (roll < 0.28) {
      await store.close()
      store = await open({ maxBytes: 200 * KIB, maxBytesOfItem: 60 * KIB })
    } else items.set(dataId, await publish(store, dataId, Math.floor(random() * 30), item))
  }
  const { configs } = await store.load()
  expect(configs.length).toBe(items.size)
  for (const { key, historyId } of configs) {
    expect(historyId).toBe(items.get(key.dataId)?.historyId)
  }
  await store.close()
  const { stored, counted } = noted()
  expect(stored, `seed ${SEED}`).toBe(counted)
  expect(counted).toBeLessThanOrEqual(200 * KIB)
})

test('records that are imported count, and are cut like others', async () => {
  const store = await open({ maxBytesOfItem: 32 * KIB })
  for (let i = 0; i < 5; i++)
    await commitAll(store, imported(sampleKey('a'), { content: Buffer.alloc(10 * KIB, 'x') }))
  expect(await recordsOf(store, 'a')).toBe(3)
  await publish(store, 'a', 1)
  await store.close()
  const { stored, counted } = noted()
  expect(stored).toBe(counted)
  expect(stored).toBeGreaterThan(30 * KIB)
})
