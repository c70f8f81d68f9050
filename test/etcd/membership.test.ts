/** The members of a cluster on etcd: places, leases and the election (src/store/etcd/members/membership.ts). */
import { expect, test } from 'vitest'
import { MEMBER } from '../../src/core/cluster/members/member-records.ts'
import { systemClock } from '@waypost/etcd-client/clock'
import { LAYOUTS } from '../../src/store/etcd/format/layout.ts'
import { connectTo } from '@waypost/etcd-client/connection'
import { METHODS } from '@waypost/etcd-client/methods'
import { describeOnEtcd } from '../support/etcd.ts'
import { publish, type StoreServer } from './store-server.ts'
import { etcdForThisFile } from './etcd-of-file.ts'

const here = etcdForThisFile()
const LIMIT_MS = 30_000

/** A server with a loaded store that has not joined. */
const startServer = (port: number): Promise<StoreServer> => here.start(here.prefix, port)

const startMember = (port: number): Promise<StoreServer> => here.join(here.prefix, port)

async function seen<T>(shown: () => T, expected: T): Promise<void> {
  await expect.poll(shown, { timeout: 30_000 }).toEqual(expected)
}

const memberOf = ({ id, facts }: StoreServer) => ({ id, process: facts.process })
const put = (client: StoreServer['client'], key: string, value: string) =>
  client.txn({
    compare: [],
    success: [{ do: 'put', key: `${here.prefix}/${key}`, value: Buffer.from(value) }],
  })

/** Ends the lease of a member, as if it had not renewed it. */
async function endLease({ client, id }: StoreServer): Promise<void> {
  const { kvs } = await client.range({ key: `${here.prefix}/p/${id}` })
  const connection = connectTo(systemClock)(here.etcd.endpoints[0]!, { silentMs: LIMIT_MS, silent() {} })
  await connection.connect(LIMIT_MS)
  await connection.call(METHODS.leaseRevoke, { ID: kvs[0]!.lease }, LIMIT_MS)
  connection.close()
}

describeOnEtcd('members on etcd', 90_000, () => {
  test('know each other, and one of them is elected', async () => {
    const one = await startMember(1)
    const two = await startMember(2)
    for (const server of [one, two]) {
      await seen(server.members, [memberOf(one), memberOf(two)])
      await seen(server.elected, { member: one.id, term: 1 })
      expect(server.membership.leaseUntilMs()).toBeGreaterThan(performance.now())
    }
    const three = await startServer(3)
    expect(three.members()).toEqual([memberOf(one), memberOf(two)])
    expect(three.elected()).toEqual({ member: one.id, term: 1 })
    expect(three.membership.leaseUntilMs()).toBe(0)
  })

  test('another one is elected, with a later term, when the elected one leaves', async () => {
    const one = await startMember(1)
    const two = await startMember(2)
    await one.membership.leave()
    await seen(two.members, [memberOf(two)])
    await seen(two.elected, { member: two.id, term: 2 })
    expect(one.membership.leaseUntilMs()).toBe(0)
  })

  test('join again after their lease has ended', async () => {
    const one = await startMember(1)
    await seen(one.members, [memberOf(one)])
    await endLease(one)
    await seen(one.members, [])
    await seen(one.members, [memberOf(one)])
    await seen(one.elected, { member: one.id, term: 2 })
    expect(one.membership.leaseUntilMs()).toBeGreaterThan(performance.now())
    expect(one.failures).toEqual([])
  })

  test('one that is restarted takes its place, and the old process stops', async () => {
    const old = await startMember(1)
    const restarted = await startMember(1)
    await seen(restarted.members, [memberOf(restarted)])
    await seen(restarted.elected, { member: restarted.id, term: 2 })
    await seen(() => old.failures.length, 1)
    expect(String(old.failures[0])).toMatch(/PlaceTaken.*must stop/)
    expect(old.membership.leaseUntilMs()).toBe(0)
    await old.stop()
    expect(restarted.members()).toEqual([memberOf(restarted)])
  })

  test('one with another setting of auth is refused', async () => {
    const one = await startMember(1)
    const two = await startServer(2)
    const joining = two.membership.join({ ...two.facts, auth: 'on' })
    await expect(joining).rejects.toThrow(
      /127\.0\.0\.1:2 has auth=on, but server 127\.0\.0\.1:1, .*has auth=off.*start this one with auth=off/,
    )
    expect(two.membership.leaseUntilMs()).toBe(0)
    await seen(one.members, [memberOf(one)])
  })

  test('of two that join at once with different settings of auth, one is refused', async () => {
    const both = [await startServer(1), await startServer(2)]
    const joined = await Promise.allSettled(
      both.map(({ membership, facts }, index) => membership.join({ ...facts, auth: index ? 'on' : 'off' })),
    )
    expect(joined.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  test('who decides on the members conflicts with one that joins, and not with one that leaves', async () => {
    const one = await startMember(1)
    const decidedAt = one.follower.revision
    const reads = [{ of: 'records', recordKind: MEMBER.name }] as const
    const commit = (at: number) => one.store.commit([{ reads, changes: [] }], at)
    const two = await startMember(2)
    expect(await commit(decidedAt)).toEqual([{ kind: 'conflict' }])
    await seen(() => one.members().length, 2)
    const later = one.follower.revision
    await two.membership.leave()
    expect(await commit(later)).toEqual([{ kind: 'held' }])
  })

  test('the layout of the data is noted, and another one is refused', async () => {
    const one = await startServer(1)
    const { kvs } = await one.client.range({ key: `${here.prefix}/format` })
    expect(Buffer.from(kvs[0]!.value).toString()).toBe(String(LAYOUTS.from))
    await put(one.client, 'format', String(LAYOUTS.to + 1))
    await expect(startServer(2)).rejects.toThrow(
      /has the layout \d+ .*knows layout \d+\. Use the version that/,
    )
    await seen(
      () => String(one.failures[0]),
      expect.stringContaining(`the layout ${LAYOUTS.to + 1}`) as string,
    )
    await put(one.client, 'format', 'x')
    await expect(startServer(2)).rejects.toThrow(/format of etcd has no layout/)
  })

  test('agree on a value that each of them would make', async () => {
    const both = [await startServer(1), await startServer(2)]
    const values = await Promise.all(both.map(({ store, id }) => store.agree('secret', () => id)))
    expect(new Set(values).size).toBe(1)
    expect(await both[0]!.store.agree('secret', () => 'later')).toBe(values[0])
    expect(await both[1]!.store.recall('secret')).toBe(values[0])
  })

  test('one whose store was taken over by another process cannot join', async () => {
    const old = await startServer(1)
    await startServer(1)
    await expect(old.membership.join(old.facts)).rejects.toThrow('must stop')
    await expect(Promise.resolve(old.engine.execute(publish('old')))).rejects.toThrow('must stop')
  })
})
