import { beforeEach, describe, expect, test } from 'vitest'
import type { Unit } from '../../../core/engine/ports.ts'
import { recordSaved } from '../../../core/records/record-kind.ts'
import { Refusal } from '../../../core/refusal.ts'
import { SWITCH } from '../../../core/switches/switch-records.ts'
import { Commits } from './commits.ts'
import { EtcdError } from '@waypost/etcd-client/etcd-error'
import type { TxnOperation, TxnResult } from '@waypost/etcd-client/messages'
import { Keys } from '../keys/keys.ts'
import { PlaceTaken } from '../failures/place-taken.ts'
import type { SendOutcome } from './request-fence.ts'

const keys = new Keys('w/')

/** The outcome of each request, in their order. */
let answers: ((operations: readonly TxnOperation[]) => SendOutcome)[] = []
let sent = 0
let isBehind = false
/** Revisions that somebody waited for. */
let awaited: number[] = []
/** etcd's answer to a confirming request. */
let confirmed: (() => TxnResult) | undefined
let known: Record<number, readonly string[]> = {}
let failures: unknown[] = []

beforeEach(() => {
  answers = []
  sent = 0
  isBehind = false
  known = {}
  failures = []
  awaited = []
  confirmed = undefined
})

const commits = new Commits({
  client: {
    txn: () =>
      confirmed === undefined
        ? Promise.reject(new EtcdError('unavailable', 'no etcd'))
        : Promise.resolve(confirmed()),
  },
  keys,
  member: 'me',
  clock: { nowMs: () => 0, sleep: () => Promise.resolve() },
  fence: { send: (operations) => Promise.resolve().then(() => answers[sent++]!(operations)) },
  following: {
    reached: () => Promise.resolve(!isBehind),
    reachedAll: (revision) => {
      awaited.push(revision)
      return Promise.resolve(!isBehind)
    },
    keysOf: (revision) => known[revision],
    saw: () => {},
  },
  chunks: { write: () => Promise.resolve(), forget: () => {} },
  failed: (error) => failures.push(error),
})

/** A unit that saves a switch, with a value of this size. */
function unit(id: string, bytes = 1): Unit {
  return { reads: [], changes: [recordSaved(SWITCH, { id, value: 'x'.repeat(bytes) as never, stamp: 1 })] }
}

function removal(port: number): Unit {
  const serviceKey = { namespaceId: 'public', groupedName: 'G@@s' }
  const place = { ip: '10.0.0.9', port, cluster: 'C' }
  const about = { serviceKey, address: place, serial: 0, reason: 'deregistered', stamp: 1 } as const
  return { reads: [], changes: [{ kind: 'instance-removed', ...about }] }
}

const commit = (...units: Unit[]) => commits.commit(units, { decidedAt: 7, withinMs: 1_000 })
const lost = (): SendOutcome => ({ kind: 'lost', revision: 9 })
const fails = (error: Error) => (): SendOutcome => {
  throw error
}
function held(operations: readonly TxnOperation[]): SendOutcome {
  const results = operations.map(() => ({ did: 'txn', revision: 0, succeeded: true, results: [] }) as const)
  const result: TxnResult = { revision: 8, succeeded: true, results }
  return { kind: 'answered', result }
}

describe('a commit', () => {
  test('of which the answer was lost finds out by the feed which units were written', async () => {
    const places = [1, 2].map((port) => removal(port))
    answers = [lost]
    known = { 9: ['w/b/me', 'w/i/public/G@@s/10.0.0.9/2/C'] }
    expect(await commit(...places)).toEqual([{ kind: 'conflict' }, { kind: 'held' }])
  })

  test('of which the answer was lost does not guess if the feed did not bring it', async () => {
    answers = [lost]
    const error = expect.objectContaining({
      code: 'store-unavailable',
      message: expect.stringContaining('missed'),
    })
    expect(await commit(unit('a'))).toEqual([{ kind: 'refused', error }])
  })

  test('keeps certain results if a later request fails, and says which units were not sent', async () => {
    answers = [held, fails(new EtcdError('full', 'no space'))]
    const results = await commit(unit('a', 700_000), unit('b', 700_000), unit('c', 700_000))
    expect(results.map((result) => ('error' in result ? result.error.message : result.kind))).toEqual([
      'held',
      expect.stringContaining('NOSPACE'),
      expect.stringContaining('was not made'),
    ])
    expect(sent).toBe(2)
  })

  test('is not answered before this server has received its changes', async () => {
    answers = [held]
    isBehind = true
    const error = expect.objectContaining({ message: expect.stringMatching(/behind.*not known/) })
    expect(await commit(unit('a'))).toEqual([{ kind: 'refused', error }])
  })

  test('of a process whose place was taken ends the server', async () => {
    answers = [fails(new PlaceTaken('w/b/me'))]
    const error = expect.objectContaining({ message: expect.stringContaining('must stop') })
    expect(await commit(unit('a'))).toEqual([{ kind: 'refused', error }])
    expect(failures).toEqual([expect.any(PlaceTaken)])
  })

  test('without changes that cannot be confirmed is refused', async () => {
    const read = { of: 'record', recordKind: SWITCH.name, id: 'a', found: false } as const
    const error = expect.objectContaining({ message: expect.stringContaining('cannot be reached') })
    expect(await commit({ reads: [read], changes: [] })).toEqual([{ kind: 'unwritten', error }])
    expect(sent).toBe(0)
  })

  test('without changes that conflicts waits for everything that it may conflict with', async () => {
    const read = { of: 'record', recordKind: SWITCH.name, id: 'a', found: false } as const
    confirmed = () => ({
      revision: 12,
      succeeded: true,
      results: [{ did: 'txn', revision: 12, succeeded: false, results: [] }],
    })
    expect(await commit({ reads: [read], changes: [] })).toEqual([{ kind: 'conflict' }])
    expect(awaited).toEqual([12])
    isBehind = true
    expect(await commit({ reads: [read], changes: [] })).toMatchObject([{ kind: 'unwritten' }])
  })

  test('that etcd certainly did not take may be tried again, one whose result is not known must not', async () => {
    const unknown = new Refusal('store-unavailable', 'not known')
    answers = [fails(new EtcdError('unavailable', 'did not take')), fails(unknown)]
    expect(await commit(unit('a'))).toMatchObject([{ kind: 'unwritten' }])
    expect(await commit(unit('a'))).toMatchObject([{ kind: 'refused' }])
  })

  test('that etcd refuses as invalid fails without hiding later results', async () => {
    answers = [fails(new EtcdError('invalid', 'duplicate key')), held]
    const results = await commit(unit('a'), unit('b'))
    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'held'])
  })

  test('that can never be written fails alone', async () => {
    answers = [held]
    const results = await commit(unit('a', 2_000_000), unit('b'))
    expect(results.map(({ kind }) => kind)).toEqual(['failed', 'held'])
  })
})

test('a unit that no transaction takes is refused as too large', async () => {
  answers = [held]
  const [small, large] = await commit(unit('a'), unit('b', 2 * 1024 * 1024))
  expect(small).toEqual({ kind: 'held' })
  expect(large).toMatchObject({ kind: 'failed', error: { code: 'too-large' } })
})
