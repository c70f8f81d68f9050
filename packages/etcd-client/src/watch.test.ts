import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { EtcdClient } from './etcd-client.ts'
import { fakeClock, fakeEtcd, NEVER_MS } from './fake-etcd.test-support.ts'
import type { FakeMember } from './fake-etcd.test-support.ts'
import { EventSchema } from './generated/kv_pb.js'
import { WatchResponseSchema } from './generated/rpc_pb.js'
import type { WatchResponse } from './generated/rpc_pb.js'
import { prefixEnd } from './range-end.ts'

const event = (revision: number) =>
  create(EventSchema, { kv: { key: Buffer.from(`k${revision}`), modRevision: BigInt(revision) } })

const put = (revision: number, fragment = false) =>
  create(WatchResponseSchema, {
    header: { clusterId: 1n, revision: BigInt(revision) },
    fragment,
    events: [toBinary(EventSchema, event(revision))],
  })

const created = (revision: number, clusterId = 1n) =>
  create(WatchResponseSchema, { header: { clusterId, revision: BigInt(revision) }, created: true })

const progress = (revision: number) =>
  create(WatchResponseSchema, { header: { clusterId: 1n, revision: BigInt(revision) } })

/** A member that sends these responses and then ends the connection; for each connection another list. */
function member(starts: number[], ...connections: readonly (readonly WatchResponse[])[]): FakeMember {
  let number = 0
  return {
    calls: { range: () => ({ header: { revision: 2n } }) },
    async *watch(startRevision) {
      const responses = connections[number++]
      starts.push(startRevision)
      if (responses === undefined) await new Promise(() => undefined)
      yield* responses ?? []
    },
  }
}

/** Watches from revision 3 until the watch is broken or a revision was reported; resolves with all reports. */
function report(members: Record<string, FakeMember>, until: string): Promise<string[]> {
  const reported: string[] = []
  return new Promise((resolve) => {
    const client = new EtcdClient({
      endpoints: Object.keys(members),
      clock: fakeClock(),
      random: () => 0,
      open: fakeEtcd(members),
      progressMs: NEVER_MS,
    })
    const add = (line: string) => {
      reported.push(line)
      if (line !== until) return
      client.close()
      resolve(reported)
    }
    client.watch(
      { key: 'k', end: prefixEnd('k'), from: 3 },
      {
        changed: ({ revision, changes }) => add(`changed ${revision} ${changes.length}`),
        reached: (revision) => add(`reached ${revision}`),
        broken: (why) => add(`broken ${why}`),
        connected: (endpoint) => add(`connected ${endpoint}`),
      },
    )
  })
}

describe('a watch', () => {
  test('continues at another member after the last whole revision', async () => {
    const starts: number[] = []
    const a = member(starts, [created(3), put(3), put(4), put(5, true)])
    const b = member(starts, [created(5), put(5), put(6)])
    expect(await report({ a, b }, 'changed 6 1')).toEqual([
      'connected a',
      'changed 3 1',
      'changed 4 1',
      'connected b',
      'changed 5 1',
      'changed 6 1',
    ])
    expect(starts).toEqual([3, 5])
  })

  test('continues after the revision that it has reached without a change', async () => {
    const starts: number[] = []
    const a = member(starts, [created(3), progress(8)], [created(9), progress(7), put(9)])
    expect(await report({ a }, 'changed 9 1')).toEqual([
      'connected a',
      'reached 8',
      'connected a',
      'changed 9 1',
    ])
    expect(starts).toEqual([3, 9])
  })

  test('is broken if the revision is compacted', async () => {
    const compacted = create(WatchResponseSchema, { canceled: true, compactRevision: 5n })
    const a = member([], [created(9), compacted])
    expect(await report({ a }, 'broken compacted')).toEqual(['connected a', 'broken compacted'])
  })

  test('is broken if another cluster answers', async () => {
    const a = member([], [created(3), put(3)], [created(9, 2n)])
    expect(await report({ a }, 'broken restored')).toEqual(['connected a', 'changed 3 1', 'broken restored'])
  })

  test('is broken if all of etcd is behind the reported revision', async () => {
    const a = member([], [created(3), put(3), put(4)], [created(2)])
    expect((await report({ a }, 'broken restored')).at(-1)).toBe('broken restored')
  })

  test('leaves a member whose version is too old', async () => {
    const old = { ...member([], [created(3), put(3)]), version: '3.5.17' }
    const b = member([], [created(3), put(3)])
    expect(await report({ a: old, b }, 'changed 3 1')).toEqual(['connected b', 'changed 3 1'])
  })
})

describe('a client', () => {
  const clientOf = (only: FakeMember) =>
    new EtcdClient({
      endpoints: ['a'],
      clock: fakeClock(),
      random: () => 0,
      open: fakeEtcd({ a: only }),
      progressMs: NEVER_MS,
    })
  const watchBy = (client: EtcdClient, broken = () => {}) =>
    client.watch({ key: 'k', end: prefixEnd('k'), from: 3 }, { changed() {}, reached() {}, broken })

  test('forgets a watch that was closed', async () => {
    const client = clientOf(member([], [created(3)]))
    const watch = watchBy(client)
    expect(client.watches).toBe(1)
    watch.close()
    await watch.ended
    expect(client.watches).toBe(0)
    client.close()
  })

  test('forgets a watch that is broken', async () => {
    const client = clientOf(member([], [created(3)], [created(3, 2n)]))
    await new Promise<void>((resolve) => watchBy(client, resolve))
    await new Promise((resolve) => setImmediate(resolve))
    expect(client.watches).toBe(0)
    client.close()
  })
})
