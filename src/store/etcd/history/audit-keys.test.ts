import { expect, test } from 'vitest'
import type { AuditEvent, AuditSearch } from '../../../core/audit/audit-event.ts'
import { AuditKeys } from './audit-keys.ts'
import type { RangeOptions, RangeResult } from '@waypost/etcd-client/etcd-client'
import type { Txn, TxnResult } from '@waypost/etcd-client/messages'
import { Keys } from '../keys/keys.ts'

const keys = new Keys('w/')
const ANY: AuditSearch = {
  username: undefined,
  operation: undefined,
  itemPart: undefined,
  ip: undefined,
  result: undefined,
  fromMs: undefined,
  toMs: undefined,
  before: undefined,
}

/** The keys of etcd, which every server writes and reads. */
class FakeKeys {
  readonly #kvs = new Map<string, Uint8Array>()

  txn({ success }: Txn): Promise<TxnResult> {
    for (const each of success) if (each.do === 'put') this.#kvs.set(each.key, each.value)
    return Promise.resolve({ revision: 1, succeeded: true, results: [] })
  }

  range({ key, end = '', limit = 0 }: RangeOptions): Promise<RangeResult> {
    const found = [...this.#kvs].filter(([each]) => each >= key && each < end).toSorted()
    const kvs = found.slice(0, limit).map(([each, value]) => {
      return { key: each, value, createRevision: 1, modRevision: 1, version: 1, lease: 0n }
    })
    return Promise.resolve({ revision: 1, kvs, count: found.length, more: found.length > kvs.length })
  }
}

const event = (id: number, username: string) => ({ id, username, item: '', result: 'done' }) as AuditEvent

/** The names of all events, in pages of this size. */
async function paged(audit: AuditKeys, most: number): Promise<string[]> {
  const names: string[] = []
  let before: number | undefined
  do {
    const { events, goOn } = await audit.find({ ...ANY, before }, most)
    names.push(...events.map(({ username }) => username))
    before = goOn
  } while (before !== undefined)
  return names
}

test.each([1, 2, 3, 4, 10])(
  'events of one stamp on several servers are found once, in pages of %i',
  async (most) => {
    const client = new FakeKeys()
    const servers = ['one', 'two', 'three'].map((member) => new AuditKeys(client, keys, member))
    for (const [index, server] of servers.entries())
      await server.save([event(7, `7 of ${index}`), event(5 + index, `${5 + index} of ${index}`)])
    expect((await paged(servers[0]!, most)).toSorted()).toEqual(
      ['5 of 0', '6 of 1', '7 of 0', '7 of 1', '7 of 2'].toSorted(),
    )
  },
)

test('events of one stamp are found where one look at the keys ends between them', async () => {
  const client = new FakeKeys()
  const [one, two] = ['one', 'two'].map((member) => new AuditKeys(client, keys, member))
  const later = Array.from({ length: 1_999 }, (_, index) => event(100 + index, 'later'))
  await one!.save([...later, event(50, 'first')])
  await two!.save([event(50, 'second')])
  expect((await paged(one!, 5_000)).filter((name) => name !== 'later').toSorted()).toEqual([
    'first',
    'second',
  ])
})
