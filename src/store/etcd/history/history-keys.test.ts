import { expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import { firstStampOf, historyIdOf } from '../../../core/decisions/stamps.ts'
import type { RangeOptions, RangeResult } from '@waypost/etcd-client/etcd-client'
import type { KeyRange, KeyValue, Txn } from '@waypost/etcd-client/messages'
import { Keys } from '../keys/keys.ts'
import { toJson } from '../keys/values.ts'
import { HistoryKeys } from './history-keys.ts'

const keys = new Keys('w/')
const KEY = configKey('public', 'g', 'a')
const OTHER = configKey('public', 'g', 'b')
const START = firstStampOf(1_795_000_000_000)
const [FEW, MANY] = [2_000, 20_000]

/** Keys of etcd. Counts the work of etcd for an answer: it visits every key of a range, and returns some keys. */
class CountingKeys {
  readonly cost = { requests: 0, visited: 0, returned: 0 }
  #sorted: string[] = []
  readonly #values = new Map<string, Buffer>()

  put(entries: readonly (readonly [string, Buffer])[]): void {
    for (const [key, value] of entries) this.#values.set(key, value)
    this.#sorted = [...this.#values.keys()].sort()
  }

  remove(gone: readonly string[]): void {
    for (const key of gone) this.#values.delete(key)
    this.#sorted = [...this.#values.keys()].sort()
  }

  async range({ key, end, limit = 0, countOnly = false }: RangeOptions): Promise<RangeResult> {
    this.cost.requests++
    const from = this.#placeOf(key)
    const to = end === undefined ? from + Number(this.#sorted[from] === key) : this.#placeOf(end)
    const count = Math.max(0, to - from)
    const most = countOnly ? 0 : limit === 0 ? count : Math.min(limit, count)
    const kvs = this.#sorted.slice(from, from + most).map((name) => this.#kvOf(name))
    this.cost.visited += count
    this.cost.returned += kvs.length
    return { revision: 1, kvs, count, more: !countOnly && kvs.length < count }
  }

  async txn({ success }: Txn) {
    this.cost.requests++
    const results = []
    for (const operation of success) {
      if (operation.do !== 'range') throw new Error('not used here')
      this.cost.requests--
      results.push({ did: 'range' as const, ...(await this.range(operation as RangeOptions)) })
    }
    return { revision: 1, succeeded: true, results }
  }

  async *pages(range: KeyRange & { pageSize: number }) {
    let { key } = range
    for (;;) {
      const page = await this.range({ ...range, key, limit: range.pageSize })
      yield page
      if (!page.more) return
      key = `${page.kvs.at(-1)!.key}\0`
    }
  }

  /** The cost of some work. */
  async costOf(work: () => Promise<unknown>) {
    Object.assign(this.cost, { requests: 0, visited: 0, returned: 0 })
    await work()
    return { ...this.cost }
  }

  #kvOf(key: string): KeyValue {
    return { key, value: this.#values.get(key)!, createRevision: 1, modRevision: 1, version: 1 } as never
  }

  #placeOf(key: string): number {
    let low = 0
    let high = this.#sorted.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#sorted[middle]! < key) low = middle + 1
      else high = middle
    }
    return low
  }
}

function entryAt(key: typeof KEY, stamp: number): readonly [string, Buffer] {
  return [keys.of({ of: 'history', key, stamp }), toJson({ id: historyIdOf(stamp), op: 'U', srcUser: 'ada' })]
}

/** A history with a record every 20 ms, and its reads. */
function historyOf(records: number) {
  const etcd = new CountingKeys()
  const stamps = Array.from({ length: records }, (_, at) => START + firstStampOf(20 * at))
  etcd.put(stamps.map((stamp) => entryAt(KEY, stamp)))
  const history = new HistoryKeys(etcd as never, keys, () => Promise.reject(new Error('not used here')))
  return { etcd, stamps, history }
}

test('the cost of a neighbour by id does not depend on the number of records', async () => {
  const costs = []
  for (const records of [FEW, MANY]) {
    const { etcd, stamps, history } = historyOf(records)
    const cost = await etcd.costOf(async () => {
      expect((await history.after(KEY, historyIdOf(stamps[0]!)))?.id).toBe(historyIdOf(stamps[1]!))
      expect((await history.after(KEY, historyIdOf(stamps[900]!)))?.id).toBe(historyIdOf(stamps[901]!))
      await history.before(KEY, historyIdOf(stamps[1_900]!))
      await history.authors([{ key: KEY, historyId: historyIdOf(stamps[3]!) }])
      await history.there([historyIdOf(stamps[3]!)])
    })
    costs.push(cost)
  }
  expect(costs[1]).toEqual(costs[0])
  expect(costs[0]!.requests).toBeLessThan(20)
  expect(costs[0]!.visited).toBeLessThan(500)
})

test('the record that follows is found over any gap, also before a burst', async () => {
  const gaps = [1, 1_000, 3_600_000, 86_400_000 * 400]
  for (const gapMs of gaps) {
    const etcd = new CountingKeys()
    const first = START + firstStampOf(gapMs)
    const burst = Array.from({ length: 5_000 }, (_, at) => first + at)
    etcd.put([START, ...burst].map((stamp) => entryAt(KEY, stamp)))
    const history = new HistoryKeys(etcd as never, keys, () => Promise.reject(new Error('not used here')))
    const { requests } = await etcd.costOf(async () => {
      expect((await history.after(KEY, historyIdOf(START)))?.id).toBe(historyIdOf(first))
      expect(await history.after(KEY, historyIdOf(burst.at(-1)!))).toBeUndefined()
    })
    expect(requests, `${gapMs}`).toBeLessThan(70)
  }
})

test('a page that is known costs its own entries, wherever it is', async () => {
  for (const records of [FEW, MANY]) {
    const { etcd, stamps, history } = historyOf(records)
    await history.page([KEY], { pageNo: 1, pageSize: 500 })
    for (const pageNo of [1, records / 500]) {
      const cost = await etcd.costOf(async () => {
        const { totalCount, entries } = await history.page([KEY, OTHER], { pageNo, pageSize: 500 })
        const expected = stamps.toReversed().slice((pageNo - 1) * 500, pageNo * 500)
        expect([totalCount, entries.map(({ id }) => id)]).toEqual([records, expected.map(historyIdOf)])
      })
      expect(cost.requests).toBeLessThan(6)
      expect(cost.visited).toBeLessThan(510)
    }
  }
})

test('a page that is not known yet reads keys alone, in slices', async () => {
  const { etcd, history } = historyOf(MANY)
  const { requests } = await etcd.costOf(() => history.page([KEY], { pageNo: 40, pageSize: 500 }))
  expect(requests).toBe(MANY / 5_000 + 1)
})

test('pages follow new records, cleaning from the oldest, and records that went from the middle', async () => {
  const { etcd, stamps, history } = historyOf(FEW)
  const page = async (pageNo: number) => {
    const { totalCount, entries } = await history.page([KEY], { pageNo, pageSize: 10 })
    return [totalCount, entries.at(-1)?.id, entries.length]
  }
  await page(1)
  const newest = stamps.at(-1)! + 5
  etcd.put([entryAt(KEY, newest)])
  expect(await page(1)).toEqual([FEW + 1, historyIdOf(stamps.at(-9)!), 10])
  etcd.remove(stamps.slice(0, 901).map((stamp) => entryAt(KEY, stamp)[0]))
  expect(await page(110)).toEqual([1_100, historyIdOf(stamps[901]!), 10])
  etcd.remove([entryAt(KEY, stamps[1_000]!)[0]])
  expect(await page(101)).toEqual([1_099, historyIdOf(stamps[990]!), 10])
  expect(await page(110)).toEqual([1_099, historyIdOf(stamps[901]!), 9])
  etcd.remove([...stamps, newest].map((stamp) => entryAt(KEY, stamp)[0]))
  expect(await page(1)).toEqual([0, undefined, 0])
  etcd.put([entryAt(KEY, newest + 1)])
  expect(await page(1)).toEqual([1, historyIdOf(newest + 1), 1])
})
