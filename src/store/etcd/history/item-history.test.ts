import fc from 'fast-check'
import { expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import { historyIdOf } from '../../../core/decisions/stamps.ts'
import type { KeyRange, KeyValue } from '@waypost/etcd-client/messages'
import { bytesOfRecord } from './history-size.ts'
import { ItemHistory } from './item-history.ts'
import { Keys } from '../keys/keys.ts'
import { toJson } from '../keys/values.ts'

const keys = new Keys('w/')
const ITEM = configKey('public', 'G', 'a')
const OTHER = configKey('public', 'G', 'b')
/** The bytes of a record besides its content. */
const LEAST = bytesOfRecord({ op: 'U', size: 0 })

/** The records of an item in etcd, the newest first, as a range reads them. */
class FakeRecords {
  #records: { readonly stamp: number; readonly size: number }[] = []
  /** How many records were read. */
  read = 0

  get stamps(): number[] {
    return this.#records.map(({ stamp }) => stamp)
  }

  get bytes(): number {
    return this.#records.reduce((sum, { size }) => sum + LEAST + size, 0)
  }

  add(stamp: number, size: number): void {
    this.#records.unshift({ stamp, size })
  }

  removeOldest(count: number): void {
    this.#records.splice(Math.max(1, this.#records.length - count))
  }

  async range({ key, end = '', limit = Infinity }: KeyRange & { limit?: number }) {
    const found = this.#records
      .map(({ stamp, size }): Pick<KeyValue, 'key' | 'value'> => ({
        key: keys.of({ of: 'history', key: ITEM, stamp }),
        value: toJson({ id: historyIdOf(stamp), atMs: 1, op: 'U', size }),
      }))
      .filter((one) => one.key >= key && one.key < end)
    const kvs = found.slice(0, limit)
    this.read += kvs.length
    return { revision: 1, kvs: kvs as KeyValue[], count: found.length, more: found.length > limit }
  }
}

/** Publishes with the next stamp, which others do not use; returns the stamps of the records that go. */
async function publish(
  { history, records }: { history: ItemHistory; records: FakeRecords },
  { size, maxBytes, isWritten = true }: { size: number; maxBytes: number; isWritten?: boolean },
): Promise<number[]> {
  const [before = 0] = records.stamps
  const added = { key: ITEM, before: historyIdOf(before), last: historyIdOf(before + 1), bytes: LEAST + size }
  const removed = await history.tooOld(added, { maxBytes, most: 10 })
  if (!isWritten) return removed.map(({ place }) => place.stamp)
  records.add(before + 1, size)
  records.removeOldest(removed.length)
  return removed.map(({ place }) => place.stamp)
}

test('the oldest records go, whatever other servers add and remove, and which changes are not written', async () => {
  const step = fc.record({
    do: fc.constantFrom('publish', 'conflict', 'add', 'clean', 'others-at-limit'),
    size: fc.nat(3_000),
    count: fc.integer({ min: 1, max: 300 }),
  })
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.integer({ min: 2, max: 600 }),
      async (steps, most) => {
        const maxBytes = most * LEAST
        const records = new FakeRecords()
        records.add(1, 0)
        const history = new ItemHistory(records, keys)
        for (const { do: what, size, count } of steps) {
          const [newest = 0] = records.stamps
          if (what === 'clean') records.removeOldest(count)
          else if (what === 'add')
            for (let at = 1; at <= count && records.bytes < maxBytes; at++)
              records.add(newest + at + 1, size % 9)
          else if (what === 'others-at-limit') {
            records.add(newest + 2, size)
            records.removeOldest(3)
          } else {
            const [oldest, bytes] = [records.stamps.toReversed(), records.bytes]
            const removed = await publish(
              { history, records },
              { size, maxBytes, isWritten: what === 'publish' },
            )
            expect(removed).toEqual(oldest.slice(0, removed.length))
            expect(removed.length > 0).toBe(bytes + LEAST + size > maxBytes)
          }
        }
      },
    ),
  )
})

test('a long history is not read with each change', async () => {
  const records = new FakeRecords()
  const length = 2_000
  for (let stamp = 1; stamp <= length; stamp++) records.add(stamp, 0)
  const history = new ItemHistory(records, keys)
  const maxBytes = (length + 100) * LEAST
  await publish({ history, records }, { size: 0, maxBytes })
  records.read = 0
  const turns = 40
  for (let turn = 0; turn < turns; turn++) {
    const [newest = 0] = records.stamps
    records.add(newest + 1, 0)
    await publish({ history, records }, { size: 0, maxBytes })
  }
  expect(records.read, 'the records since the last look').toBeLessThanOrEqual(2 * turns)
  while (records.bytes < maxBytes) records.add((records.stamps[0] ?? 0) + 1, 0)
  records.read = 0
  const changes = 400
  for (let round = 0; round < changes; round++) {
    const removed = await publish({ history, records }, { size: 0, maxBytes })
    if (round > 0) expect(removed).toHaveLength(1)
  }
  expect(records.read / changes, 'at the limit').toBeLessThan(300)
})

test('without a limit nothing is read', async () => {
  const records = new FakeRecords()
  records.add(1, 0)
  const history = new ItemHistory(records, keys)
  expect(await publish({ history, records }, { size: 1, maxBytes: Infinity })).toEqual([])
  expect(records.read).toBe(0)
})

test('records that are not the newest are counted after they were imported', async () => {
  const records = new FakeRecords()
  records.add(10, 0)
  const history = new ItemHistory(records, keys)
  const maxBytes = 4 * LEAST
  expect(await publish({ history, records }, { size: 0, maxBytes })).toEqual([])
  const withOlder = new FakeRecords()
  for (const stamp of [3, 4, 5, ...records.stamps.toReversed()]) withOlder.add(stamp, 0)
  records.range = (range) => withOlder.range(range)
  history.forget(OTHER)
  history.forget(ITEM)
  const added = { key: ITEM, before: historyIdOf(11), last: historyIdOf(12), bytes: LEAST }
  const removed = await history.tooOld(added, { maxBytes, most: 10 })
  expect(removed.map(({ place }) => place.stamp)).toEqual([3, 4])
})
