import { beforeEach, describe, expect, test } from 'vitest'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { KeyValue, TxnOperation, Txn, TxnResult } from '@waypost/etcd-client/messages'
import { PlaceTaken } from '../failures/place-taken.ts'
import { RequestFence } from './request-fence.ts'
import { requestOf, toJson } from '../keys/values.ts'

/** The fate of a request: its answer is lost before or after it was written, or it is answered. */
type Fate = 'answered' | 'lost' | 'written and lost' | 'refused'

const KEY = 'w/b/me'
const BUDGET_MS = 1_900
const WORK: TxnOperation = { do: 'put', key: 'a', value: Buffer.from('1') }

let nowMs = 0
let fates: Fate[] = []
/** The number of a server's last request, as etcd has it. */
let kept: KeyValue | undefined
let revision = 10
let written: Txn[] = []
let fence: RequestFence

beforeEach(async () => {
  nowMs = 0
  fates = []
  kept = undefined
  written = []
  fence = new RequestFence({ range, txn }, { key: KEY, process: 'p' })
  await fence.take({ nowMs: () => nowMs })
})

function range() {
  return Promise.resolve({ revision, kvs: kept ? [kept] : [], count: 0, more: false })
}

/** A request that is not answered takes all its time. */
async function txn(request: Txn, callMs = 0): Promise<TxnResult> {
  const fate = fates.shift() ?? 'answered'
  if (fate === 'refused') throw new EtcdError('unavailable', 'no leader')
  const result = fate === 'lost' ? undefined : write(request)
  if (fate === 'answered') return result!
  nowMs += callMs
  throw new EtcdError('unavailable', 'no answer', { inDoubt: true })
}

function write(request: Txn): TxnResult {
  const [condition] = request.compare
  const holds =
    condition?.to === 0 ? kept === undefined : kept !== undefined && kept.value === valueOf(condition?.to)
  const [put] = request.success
  if (!holds || put?.do !== 'put')
    return {
      revision,
      succeeded: false,
      results: [{ did: 'range', kvs: kept ? [kept] : [], count: 1, more: false }],
    }
  keep(put.value)
  written.push(request)
  return { revision, succeeded: true, results: request.success.map(() => ({ did: 'put' })) }
}

function valueOf(to: unknown): Uint8Array | undefined {
  return Buffer.from(to as Uint8Array).equals(kept!.value) ? kept!.value : undefined
}

function keep(value: Uint8Array): void {
  kept = { key: KEY, value, createRevision: 1, modRevision: ++revision, version: 1, lease: 0n }
}

/** Sends with the time that a commit has. */
function send() {
  const untilMs = nowMs + BUDGET_MS
  return fence.send([WORK], { stamp: 5, leftMs: () => untilMs - nowMs })
}

describe('a request', () => {
  test('has the number after the last one', async () => {
    expect(await send()).toMatchObject({ kind: 'answered', result: { results: [{ did: 'put' }] } })
    await send()
    expect(requestOf(kept!.value)).toEqual({ number: 3, process: 'p', stamp: 5 })
  })

  test('leaves its stamp to the process that takes the place: deleted data has no other stamp', async () => {
    await send()
    await new RequestFence({ range, txn }, { key: KEY, process: 'q' }).take({ nowMs: () => nowMs })
    expect(requestOf(kept!.value)).toEqual({ number: 3, process: 'q', stamp: 5 })
  })

  test('whose answer was lost was not written if its number can be written again', async () => {
    fates = ['lost']
    await expect(send()).rejects.toThrow('did not take')
    expect(written.at(-1)?.success).toHaveLength(1)
    expect(await send()).toMatchObject({ kind: 'answered' })
  })

  test('whose answer was lost was written if its number is there', async () => {
    fates = ['written and lost']
    expect(await send()).toEqual({ kind: 'lost', revision })
    expect(written.at(-1)?.success).toHaveLength(2)
  })

  test('is given up in time if nothing is answered, and its result is not known', async () => {
    fates = ['lost', 'lost']
    await expect(send()).rejects.toThrow(/not known/)
    expect(nowMs).toBeLessThanOrEqual(BUDGET_MS)
  })

  test('is not sent before the outcome of the request before it is known', async () => {
    fates = ['written and lost', 'lost']
    await expect(send()).rejects.toThrow(/not known/)
    nowMs = 0
    const before = written.length
    fates = ['lost']
    await expect(send()).rejects.toMatchObject({ inDoubt: true })
    expect(written).toHaveLength(before)
    expect(nowMs).toBeLessThanOrEqual(BUDGET_MS)
    expect(await send()).toMatchObject({ kind: 'answered' })
    expect(requestOf(kept!.value).number).toBe(3)
  })

  test.each<Fate[][]>([
    [['lost', 'lost', 'lost', 'lost', 'lost']],
    [['lost', 'lost', 'answered', 'lost', 'lost']],
    [['lost', 'lost', 'written and lost', 'answered', 'written and lost', 'lost']],
  ])('is over in time with %s', async (all) => {
    fates = all
    while (fates.length > 0) {
      const beganMs = nowMs
      await send().catch(() => undefined)
      expect(nowMs - beganMs).toBeLessThanOrEqual(BUDGET_MS)
    }
  })

  test('that was certainly refused is not in doubt', async () => {
    fates = ['refused']
    await expect(send()).rejects.toMatchObject({ inDoubt: false })
    expect(await send()).toMatchObject({ kind: 'answered' })
  })

  test('finds out that another process has the place', async () => {
    keep(toJson({ number: 9, process: 'other', stamp: 0 }))
    await expect(send()).rejects.toBeInstanceOf(PlaceTaken)
    fates = ['lost']
    await expect(send()).rejects.toBeInstanceOf(PlaceTaken)
  })

  test('continues if etcd was restored from a backup', async () => {
    const earlier = kept!.value
    await send()
    keep(earlier)
    await expect(send()).rejects.toThrow('has forgotten')
    expect(await send()).toMatchObject({ kind: 'answered' })
    kept = undefined
    await expect(send()).rejects.toThrow('has forgotten')
    expect(await send()).toMatchObject({ kind: 'answered' })
  })
})
