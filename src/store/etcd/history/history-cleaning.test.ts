import { expect, test } from 'vitest'
import { configKey } from '../../../core/config/state/config-item.ts'
import { historyIdOf } from '../../../core/decisions/stamps.ts'
import type { KeyRange, KeyValue, TxnOperation, TxnOperationResult, Txn } from '@waypost/etcd-client/messages'
import { HistoryCleaning } from './history-cleaning.ts'
import { Keys } from '../keys/keys.ts'
import { toJson } from '../keys/values.ts'

const keys = new Keys('w/')
const KEPT = 1_000
const RECORDS = 1_500

/** The keys of etcd, as far as cleaning reads them. */
class FakeKeys {
  readonly values = new Map<string, Buffer>()

  async range({ key, end, limit = Infinity }: KeyRange & { limit?: number }) {
    const kvs = this.#in({ key, ...(end === undefined ? {} : { end }) })
    return { revision: 1, kvs: kvs.slice(0, limit), count: kvs.length, more: kvs.length > limit }
  }

  async txn({ success }: Txn) {
    return { revision: 1, succeeded: true, results: success.map((operation) => this.#carryOut(operation)) }
  }

  #carryOut(operation: TxnOperation): TxnOperationResult {
    if (operation.do === 'range')
      return { did: 'range', kvs: [], count: this.#in(operation).length, more: false }
    if (operation.do === 'put') return { did: 'put' } as never
    if (operation.do !== 'delete') throw new Error('not used here')
    for (const { key } of this.#in(operation)) this.values.delete(key)
    return { did: 'delete', count: 1 } as never
  }

  #in({ key, end }: KeyRange): KeyValue[] {
    return [...this.values]
      .filter(([name]) => (end === undefined ? name === key : name >= key && name < end))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, value]) => ({
        key: name,
        value,
        createRevision: 1,
        modRevision: 1,
        version: 1,
        lease: 0n,
      }))
  }
}

test('a history that is longer than a step is cleaned to the records that stay', async () => {
  const etcd = new FakeKeys()
  const item = configKey('public', 'G', 'a')
  etcd.values.set(keys.of({ of: 'config', key: item }), Buffer.from('{}'))
  for (let stamp = 1; stamp <= RECORDS; stamp++)
    etcd.values.set(
      keys.of({ of: 'history', key: item, stamp }),
      toJson({ id: historyIdOf(stamp), atMs: 1, op: 'U', size: 1 }),
    )
  const cleaning = new HistoryCleaning(etcd, keys, 'm')
  for (let more = true, steps = 0; more && steps < 100; steps++)
    more = (await cleaning.step({ beforeMs: 2, keep: KEPT, most: 200 })).more
  const left = [...etcd.values.keys()].filter((key) => key.startsWith(keys.every('history')))
  expect(left).toHaveLength(KEPT)
})
