import { describe, expect, test } from 'vitest'
import { Chunks } from './chunks.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import { GRPC, GrpcError } from '@waypost/etcd-client/grpc-error'
import type { Txn, TxnResult } from '@waypost/etcd-client/messages'
import { Keys } from '../keys/keys.ts'
import { refusalOf } from '../failures/refusals.ts'

const MIB = 1024 * 1024
const keys = new Keys('w/')
const CONTENT = { stamp: 7, content: Buffer.alloc(3 * MIB) }

/** Chunks in an etcd that takes so long for each, in a time of its own. */
function chunksIn(etcd: { readonly msEach: number; readonly loses?: number; readonly refuses?: EtcdError }) {
  let nowMs = 0
  let loses = etcd.loses ?? 0
  let tries = 0
  const written: string[] = []
  const txn = async ({ success }: Txn, callMs = 0): Promise<TxnResult> => {
    const [put] = success
    tries++
    if (etcd.refuses !== undefined) throw etcd.refuses
    nowMs += Math.min(callMs, etcd.msEach)
    const cause = new GrpcError(GRPC.DEADLINE_EXCEEDED, 'there is no answer in time')
    if (callMs < etcd.msEach || loses-- > 0)
      throw new EtcdError('unavailable', 'late', { inDoubt: true, cause })
    if (put?.do === 'put') written.push(put.key)
    return { revision: 1, succeeded: true, results: [] }
  }
  const range = () => Promise.reject(new Error('not used here'))
  const sleep = async (ms: number): Promise<void> => void (nowMs += ms)
  const chunks = new Chunks({ txn, range }, keys, { sleep })
  return { written, write: () => chunks.write([CONTENT], () => 7_000 - nowMs), tries: () => tries }
}

const chunk = (index: number): string => keys.of({ of: 'chunk', stamp: 7, index })

describe('a large content', () => {
  test('is written, and a chunk whose answer was lost once more', async () => {
    const { written, write } = chunksIn({ msEach: 100, loses: 1 })
    await write()
    expect(written).toEqual([0, 1, 2].map(chunk))
  })

  test('is given up while there is time to say so, with how much of it etcd has taken', async () => {
    const { write } = chunksIn({ msEach: 3_000 })
    const error = refusalOf(await write().catch((reason: unknown) => reason))
    expect(error).toMatchObject({ code: 'store-unavailable' })
    expect(error.message).toBe(
      'etcd is too slow for a content of this size: of 3.0 MiB it has taken 2.0 in time. The change was not made: try again later.',
    )
  })

  test('is not sent again and again to a member that refuses at once', async () => {
    const busy = new EtcdError('unavailable', 'too many requests', { inDoubt: true })
    const { write, tries } = chunksIn({ msEach: 0, refuses: busy })
    await expect(write()).rejects.toThrow('too slow')
    expect(tries()).toBeLessThan(150)
  })

  test('that etcd refuses is not called slow', async () => {
    const away = new EtcdError('unavailable', 'nobody listens')
    const { write } = chunksIn({ msEach: 100, refuses: away })
    await expect(write()).rejects.toBe(away)
    expect(refusalOf(away).message).toContain('cannot be reached')
  })
})
