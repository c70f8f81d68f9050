import { create, toBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { EtcdClient } from './etcd-client.ts'
import { fakeClock, fakeEtcd } from './fake-etcd.test-support.ts'
import { KeyValueSchema } from './generated/kv_pb.js'
import { GRPC, GrpcError } from './grpc-error.ts'
import { keyBytes } from './key-text.ts'

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

/** The bytes of these keys as a member sends them. */
const sent = (keys: readonly string[]) =>
  keys.map((key) => toBinary(KeyValueSchema, create(KeyValueSchema, { key: Buffer.from(key, 'latin1') })))

/** Reads `a/` to `a0` from a member that answers each request with this. */
async function readFrom(answer: (asked: string) => { keys: string[]; more: boolean; count?: number }) {
  let answers = 0
  const range = (request: unknown) => {
    answers++
    const {
      keys,
      more,
      count = keys.length + Number(more),
    } = answer((request as { key: Buffer }).key.toString('latin1'))
    return { header, kvs: sent(keys), count: BigInt(count), more }
  }
  const clock = fakeClock()
  const open = fakeEtcd({ a: { calls: { range } } })
  const limits = { callMs: 100 }
  const client = new EtcdClient({ endpoints: ['a'], clock, random: () => 0, open, limits })
  const found: string[] = []
  let error: unknown
  try {
    for await (const { kvs } of client.pages({ key: 'a/', end: 'a0', pageSize: 200 }))
      found.push(...kvs.map(({ key }) => key))
  } catch (reason) {
    error = reason
  }
  return { found, error, answers }
}

describe('a member that decides how long a load takes', () => {
  test.each([
    ['the same page each time', () => ({ keys: ['a/1', 'a/2'], more: true }), 'not in the range'],
    ['no key and more', () => ({ keys: [], more: true }), 'sends no key'],
    ['a key twice', () => ({ keys: ['a/1', 'a/1'], more: true }), 'does not come before'],
    ['keys that fall', () => ({ keys: ['a/2', 'a/1'], more: false }), 'does not come before'],
    ['keys behind the range', () => ({ keys: ['a/1', 'b'], more: true }), 'not in the range'],
    ['keys before the range', () => ({ keys: ['a'], more: true }), 'not in the range'],
    ['a page that is too large', () => ({ keys: ALL, more: true }), '250 keys where 100 are wanted'],
    ['bytes that are no text', () => ({ keys: ['a/\xff', 'a/\xfe'], more: true }), String.raw`a/\xfe (hex`],
    ['keys without an end', (asked: string) => ({ keys: [`${asked}!`], more: true }), 'than it has counted'],
    [
      'keys that rise for UTF-16 only',
      (asked: string) => ({
        keys: [asked.endsWith('\0') ? 'a/\xef\xbf\xbf' : 'a/\xf0\x90\x80\x80'],
        more: true,
        count: 1e6,
      }),
      'not in the range',
    ],
  ])('by sending %s is left, with the reason', async (_, answer, reason) => {
    const { error, answers } = await readFrom(answer)
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringContaining(reason) })
    expect(answers).toBeLessThan(20)
  })

  test('is left for another one that gives the right answer', async () => {
    const kvs = sent(['a/1'])
    const members = {
      a: { calls: { range: () => ({ header, kvs: sent(['b']), count: 1n, more: true }) } },
      b: { calls: { range: () => ({ header, kvs, count: 1n, more: false }) } },
    }
    const parts = { endpoints: ['a', 'b'], clock: fakeClock(), random: () => 0, open: fakeEtcd(members) }
    const { kvs: found } = await new EtcdClient(parts).range({ key: 'a/', end: 'a0' })
    expect(found.map(({ key }) => key)).toEqual(['a/1'])
  })
})

test('keys that are no UTF-8 are read once each, page by page', async () => {
  const keys = Array.from({ length: 120 }, (_, index) => `a/\xff\xff${String.fromCharCode(100 + index)}`)
  const { found, error } = await readFrom((asked) => {
    const left = keys.filter((one) => one >= asked)
    return { keys: left.slice(0, 100), more: left.length > 100, count: left.length }
  })
  expect(error).toBeUndefined()
  expect(found.map((key) => keyBytes(key).toString('latin1'))).toEqual(keys)
})
