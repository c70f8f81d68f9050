import { describe, expect, test } from 'vitest'
import { EtcdClient } from './etcd-client.ts'
import { fakeClock, fakeEtcd } from './fake-etcd.test-support.ts'
import type { FakeMember } from './fake-etcd.test-support.ts'
import { GRPC, GrpcError } from './grpc-error.ts'

const PUT = { compare: [], success: [{ do: 'put', key: 'a', value: Buffer.from('1') }] } as const

function clientOf(members: Record<string, FakeMember>) {
  const clock = fakeClock()
  const client = new EtcdClient({
    endpoints: Object.keys(members),
    clock,
    random: () => 0,
    open: fakeEtcd(members),
    limits: { callMs: 300 },
  })
  return { client, clock }
}

function member(name: string, calls: string[], fail?: () => Error): FakeMember {
  const done = <T>(answer: T) => {
    calls.push(name)
    if (fail !== undefined) throw fail()
    return answer
  }
  const header = { revision: 7n }
  return {
    txn: () => done({ revision: 7, succeeded: true, results: [] }),
    calls: {
      range: () => done({ header, kvs: [], count: 0n }),
      leaseGrant: () => done({ header, ID: 5n, TTL: 10n }),
      leaseRevoke: () => done({ header }),
      leaseKeepAlive: () => done({ header, TTL: 10n }),
    },
  }
}

const lost = () => new GrpcError(GRPC.UNAVAILABLE, 'the connection broke')
const noLeader = () => new GrpcError(GRPC.UNAVAILABLE, 'etcdserver: no leader')
const refused = () => new GrpcError(GRPC.UNAVAILABLE, 'the stream was refused', { notBegun: true })

describe('a call of etcd', () => {
  test('goes to the next endpoint if nobody listens, and stays there', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: { down: true }, b: member('b', calls) })
    expect((await client.txn(PUT)).revision).toBe(7)
    await client.range({ key: 'a' })
    expect(calls).toEqual(['b', 'b'])
  })

  test('that only reads is repeated elsewhere after its answer was lost', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: member('a', calls, lost), b: member('b', calls) })
    await client.range({ key: 'a' })
    expect(calls).toEqual(['a', 'b'])
  })

  test('that verifies without a change is repeated too', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: member('a', calls, lost), b: member('b', calls) })
    await client.txn({ compare: [{ key: 'a', of: 'mod', is: '<', to: 3 }], success: [] })
    expect(calls).toEqual(['a', 'b'])
  })

  test('that changes something is in doubt if its answer was lost, and is not repeated', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: member('a', calls, lost), b: member('b', calls) })
    await expect(client.txn(PUT)).rejects.toMatchObject({ kind: 'unavailable', inDoubt: true })
    expect(calls).toEqual(['a'])
  })

  test('that changes something is repeated if the member certainly refused it', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: member('a', calls, noLeader), b: member('b', calls) })
    await client.txn(PUT)
    expect(calls).toEqual(['a', 'b'])
  })

  test('that changes something is repeated if the member has not begun it', async () => {
    const calls: string[] = []
    const { client } = clientOf({ a: member('a', calls, refused), b: member('b', calls) })
    await client.txn(PUT)
    expect(calls).toEqual(['a', 'b'])
  })

  test('is given up after its time, without doubt, if no member has a leader', async () => {
    const calls: string[] = []
    const { client, clock } = clientOf({ a: member('a', calls, noLeader), b: member('b', calls, noLeader) })
    await expect(client.txn(PUT)).rejects.toMatchObject({ kind: 'unavailable', inDoubt: false })
    expect(clock.passedMs).toBeGreaterThan(200)
    expect(clock.passedMs).toBeLessThanOrEqual(300)
  })

  test.each([
    [GRPC.INVALID_ARGUMENT, 'etcdserver: too many operations in txn request', 'invalid'],
    [GRPC.OUT_OF_RANGE, 'etcdserver: mvcc: required revision has been compacted', 'compacted'],
    [GRPC.RESOURCE_EXHAUSTED, 'etcdserver: mvcc: database space exceeded', 'full'],
    [GRPC.PERMISSION_DENIED, 'etcdserver: permission denied', 'denied'],
  ])('that etcd refuses with %s %s fails at once as %s', async (code, text, kind) => {
    const calls: string[] = []
    const { client } = clientOf({
      a: member('a', calls, () => new GrpcError(code, text)),
      b: member('b', calls),
    })
    await expect(client.txn(PUT)).rejects.toMatchObject({
      kind,
      inDoubt: false,
      message: expect.stringContaining(`etcd: ${text}`),
    })
    expect(calls).toEqual(['a'])
  })
})

describe('a lease', () => {
  test('is certain from the sending of the renewal that was answered, less a margin', async () => {
    const calls: string[] = []
    const { client, clock } = clientOf({ a: member('a', calls) })
    const lease = await client.lease(10)
    expect(lease.certainUntilMs()).toBe(9_000)
    await clock.sleep(3_000)
    await lease.renew()
    expect(lease.certainUntilMs()).toBe(12_000)
  })

  test('stays as certain as it was if a renewal is not answered', async () => {
    const calls: string[] = []
    const members = { a: member('a', calls) }
    const { client, clock } = clientOf(members)
    const lease = await client.lease(10)
    await clock.sleep(3_000)
    Object.assign(members.a, { down: true })
    await expect(lease.renew()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(lease.certainUntilMs()).toBe(9_000)
  })
})

describe('the versions of etcd', () => {
  test('are refused if one member is too old', async () => {
    const { client } = clientOf({ a: { version: '3.6.4' }, b: { version: '3.4.23' }, c: { down: true } })
    await expect(client.checkVersions()).rejects.toMatchObject({
      kind: 'unsupported',
      message: expect.stringMatching(/b has version 3\.4\.23.*3\.5\.18/),
    })
  })

  test('are accepted while some members do not answer, but not without any answer', async () => {
    const { client } = clientOf({ a: { version: '3.5.18' }, b: { down: true } })
    await client.checkVersions()
    const { client: alone } = clientOf({ b: { down: true } })
    await expect(alone.checkVersions()).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
