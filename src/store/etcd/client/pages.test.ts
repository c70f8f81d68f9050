import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { EtcdClient } from './etcd-client.ts'
import { fakeClock, fakeEtcd } from './fake-etcd.test-support.ts'
import { KeyValueSchema } from './generated/kv_pb.js'
import { GRPC, GrpcError } from './grpc-error.ts'

const KEYS = 250
const header = { revision: 7n }
const keyOf = (index: number): string => `a/${String(index).padStart(3, '0')}`

/** A member that answers pages of at most this many keys in time, and notes the sizes that it was asked for. */
function slowMember(most: () => number, fail: () => Error) {
  const asked: number[] = []
  const range = (request: unknown) => {
    const { key, limit } = request as { key: Buffer; limit: bigint }
    asked.push(Number(limit))
    if (limit > most()) throw fail()
    const left = Array.from({ length: KEYS }, (_, index) => keyOf(index)).filter((one) => one >= String(key))
    const page = left.slice(0, Number(limit))
    const kvs = page.map((one) => toBinary(KeyValueSchema, create(KeyValueSchema, { key: Buffer.from(one) })))
    return { header, kvs, count: BigInt(left.length), more: left.length > page.length }
  }
  const clock = fakeClock()
  const members = { a: { calls: { range } } }
  const parts = { endpoints: ['a'], clock, random: () => 0, open: fakeEtcd(members), limits: { callMs: 100 } }
  const read = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { kvs } of new EtcdClient(parts).pages({ key: 'a/', end: 'a0', pageSize: 200 }))
      found.push(...kvs.map(({ key }) => String(key)))
    return found
  }
  return { asked, read }
}

const ALL = Array.from({ length: KEYS }, (_, index) => keyOf(index))
const late = () => new GrpcError(GRPC.DEADLINE_EXCEEDED, 'there is no answer in time')

describe('pages of a range', () => {
  test('are halved where etcd is too busy to send them in time, and no page is missing', async () => {
    const { asked, read } = slowMember(() => 30, late)
    expect(await read()).toEqual(ALL)
    expect(asked.slice(0, 3)).toContain(50)
  })

  test('grow again when etcd is less busy', async () => {
    let calls = 0
    const { asked, read } = slowMember(() => (calls++ < 20 ? 10 : 1_000), late)
    expect(await read()).toEqual(ALL)
    expect(asked.at(-1)).toBeGreaterThan(20)
  })

  test('end with the error where not even one key comes in time', async () => {
    const { asked, read } = slowMember(() => 0, late)
    await expect(read()).rejects.toMatchObject({ kind: 'unavailable' })
    expect(asked.at(-1)).toBe(1)
  })

  test('are not asked for again where etcd refuses them', async () => {
    const { read, asked } = slowMember(
      () => 0,
      () => new GrpcError(GRPC.OUT_OF_RANGE, 'required revision has been compacted'),
    )
    await expect(read()).rejects.toMatchObject({ kind: 'compacted' })
    expect(asked).toEqual([100])
  })
})
