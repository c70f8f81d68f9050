import { beforeEach, describe, expect, test } from 'vitest'
import type { AuditEntry, AuditEvent } from '../core/audit/audit-event.ts'
import { WrittenTrail, EventMerger } from './written-trail.ts'
import type { CommitResult } from '../core/engine/ports.ts'
import { at } from '../core/core.test-support.ts'

const done: AuditEntry = {
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'publish config',
  item: 'dev:G:config/a',
  result: 'done',
  code: '',
  detail: '',
}
const refused: AuditEntry = { ...done, result: 'refused', code: 'forbidden' }

let nowMs: number
let stamp: number
/** The events in the store, by id. */
let stored: Map<number, AuditEvent>
let saves: number[]
let seen: AuditEvent[]
let drops: number
let isBroken: boolean
let trail: WrittenTrail
beforeEach(() => {
  nowMs = 1_000
  stamp = 0
  stored = new Map()
  saves = []
  seen = []
  drops = 0
  isBroken = false
  trail = new WrittenTrail({
    store: {
      saveAudit: async (events) => {
        if (isBroken) throw new Error('disk full')
        saves.push(events.length)
        for (const event of events) stored.set(event.id, event)
      },
    },
    clock: () => ({ wallMs: nowMs, stamp: ++stamp }),
    wallMs: () => nowMs,
    onEvent: (event) => seen.push({ ...event }),
    onDrop: () => drops++,
  })
})

test('recorded events are written by the next flush, and not before', async () => {
  trail.record(done)
  expect(stored.size).toBe(0)
  await trail.flush()
  expect([...stored.values()]).toEqual([{ ...done, id: 1, atMs: 1_000, count: 1 }])
  await trail.flush()
  expect(saves).toEqual([1])
})

test('done events are never merged', async () => {
  trail.record(done)
  trail.record(done)
  await trail.flush()
  expect(stored.size).toBe(2)
})

test('done events of operations without a permission are merged, so that nobody drives out changes with them', async () => {
  const signIn: AuditEntry = { ...done, operation: 'sign in', item: '' }
  for (let count = 0; count < 3; count++) trail.record(signIn, { mayRepeat: true })
  trail.record({ ...signIn, ip: '10.0.0.2' }, { mayRepeat: true })
  trail.record(done, { mayRepeat: false })
  trail.record(done, { mayRepeat: false })
  await trail.flush()
  expect([...stored.values()].map(({ operation, ip, count }) => [operation, ip, count])).toEqual([
    ['sign in', '10.0.0.1', 3],
    ['sign in', '10.0.0.2', 1],
    ['publish config', '10.0.0.1', 1],
    ['publish config', '10.0.0.1', 1],
  ])
})

test('no minute has sign-ins without bounds', async () => {
  for (let host = 0; host < 3_000; host++)
    trail.record({ ...done, operation: 'sign in', ip: `host-${host}` }, { mayRepeat: true })
  await trail.flush()
  expect(stored.size).toBe(2_001)
  expect([...stored.values()].at(-1)).toMatchObject({ operation: 'several', result: 'done', count: 1_000 })
})

test('equal refusals are one event, whose count rises after it was written', async () => {
  trail.record(refused)
  await trail.flush()
  trail.record(refused)
  trail.record(refused)
  await trail.flush()
  expect([...stored.values()]).toMatchObject([{ ...refused, id: 1, count: 3 }])
  expect(trail.counts()).toEqual({ written: 2, merged: 2, dropped: 0 })
})

test('a batch that was refused after it has changed something is an event of its own', async () => {
  for (const item of ['a', 'b']) trail.record({ ...refused, item }, { mayRepeat: false, hasChanged: true })
  trail.record(refused)
  await trail.flush()
  expect([...stored.values()].map(({ item, count }) => [item, count])).toEqual([
    ['a', 1],
    ['b', 1],
    [refused.item, 1],
  ])
})

test('refusals of another minute are another event, and the count of the minute before is reported', async () => {
  trail.record(refused)
  trail.record(refused)
  nowMs += 60_000
  trail.record(refused)
  expect(seen).toMatchObject([{ id: 1, count: 1 }, { id: 1, count: 2 }, { count: 1 }])
  await trail.flush()
  expect(stored.size).toBe(2)
})

test('many events are written in several steps', async () => {
  for (let turn = 0; turn < 450; turn++) trail.record(done)
  await trail.flush()
  expect(saves).toEqual([200, 200, 50])
})

describe('with a commit', () => {
  const record = (count: number): void => {
    for (let turn = 0; turn < count; turn++) trail.record(done)
  }
  const commit = (groups: number[], outcome: CommitResult) => async (events: readonly AuditEvent[]) => {
    groups.push(events.length)
    return outcome
  }
  const committed = { kind: 'committed', revision: 1 } as const
  const failed = { kind: 'failed', group: 0, error: new Error('a bad row') } as const

  test('events go along once there are enough, and are not written again', async () => {
    const sizes: number[] = []
    record(31)
    expect(await trail.along(commit(sizes, committed))).toBe(committed)
    record(300)
    await trail.along(commit(sizes, committed))
    await trail.along(commit(sizes, committed))
    await trail.flush()
    expect(sizes).toEqual([0, 200, 131])
    expect(saves).toEqual([])
    expect(trail.counts()).toEqual({ written: 331, merged: 0, dropped: 0 })
  })

  test.each<[string, () => Promise<CommitResult>]>([
    ['failed for a group', async () => failed],
    [
      'failed for the store',
      async () => {
        throw new Error('disk full')
      },
    ],
  ])('events of a commit that %s are kept, and wait for a write of their own', async (_, fail) => {
    const sizes: number[] = []
    record(40)
    await trail.along(fail).catch(() => undefined)
    await trail.along(commit(sizes, committed))
    await trail.flush()
    record(40)
    await trail.along(commit(sizes, committed))
    expect([sizes, saves]).toEqual([[0, 40], [40]])
  })

  test('an event that counts one more during its commit is written again', async () => {
    trail.record(refused)
    record(40)
    await trail.along(async (events) => {
      trail.record(refused)
      expect(events[0]).toMatchObject({ count: 1 })
      return committed
    })
    await trail.flush()
    expect([...stored.values()]).toMatchObject([{ id: 1, count: 2 }])
  })
})

describe('while the store cannot write', () => {
  beforeEach(() => (isBroken = true))

  test('events are kept, and written once it can', async () => {
    trail.record(done)
    trail.record(refused)
    await expect(trail.flush()).rejects.toThrow('disk full')
    trail.record(refused)
    isBroken = false
    await trail.flush()
    expect([...stored.values()].map(({ count }) => count)).toEqual([1, 2])
  })

  test('events beyond the limit are dropped, counted, and reported once', async () => {
    for (let turn = 0; turn < 10_005; turn++) trail.record(done)
    expect(trail.counts()).toMatchObject({ dropped: 5 })
    expect(drops).toBe(1)
    isBroken = false
    await trail.flush()
    expect(stored.size).toBe(10_000)
    for (let turn = 0; turn < 10_001; turn++) trail.record(done)
    expect(drops).toBe(2)
  })
})

test('closing writes everything, and reports the counts of the open minute', async () => {
  trail.record(refused)
  trail.record(refused)
  await trail.close()
  expect(stored.size).toBe(1)
  expect(seen.at(-1)).toMatchObject({ count: 2 })
})

test('calls that are only counted have one tally for each operation', () => {
  trail.tallyOf('beat').count++
  trail.tallyOf('beat').count++
  expect([...trail.tallies()]).toEqual([['beat', { count: 2 }]])
})

const refusal: AuditEntry = {
  username: 'ann',
  by: 'token',
  ip: '10.0.0.1',
  operation: 'read config',
  item: 'dev:G:config/a',
  result: 'refused',
  code: 'forbidden',
  detail: '',
}

const others: AuditEntry = { ...refusal, username: '-', by: 'none', ip: '-', operation: 'several' }

let merger: EventMerger
beforeEach(() => (merger = new EventMerger({ most: 3, others })))

test('equal refusals are one event with a count, which names the first item and time', () => {
  const first = merger.eventOf(refusal, at(0))
  expect(first).toMatchObject({ ...refusal, count: 1, atMs: at(0).wallMs })
  expect(merger.eventOf({ ...refusal, item: 'dev:G:config/b' }, at(1_000))).toBe(first)
  expect(first).toMatchObject({ item: 'dev:G:config/a', count: 2, atMs: at(0).wallMs })
})

test.each<Partial<AuditEntry>>([
  { username: 'bob' },
  { by: 'password' },
  { ip: '10.0.0.2' },
  { operation: 'publish config' },
  { result: 'failed' },
  { code: 'token-expired' },
])('a refusal with %j is another event', (other) => {
  expect(merger.eventOf(refusal, at(0))).not.toBe(merger.eventOf({ ...refusal, ...other }, at(0)))
})

test('all events beyond the limit of a window are one, which names nobody', () => {
  const from = (host: number) => merger.eventOf({ ...refusal, ip: `10.0.0.${host}` }, at(0))
  const events = [1, 2, 3].map(from)
  const beyond = [4, 5, 6].map(from)
  expect(new Set(events).size).toBe(3)
  expect(new Set(beyond).size).toBe(1)
  expect(beyond[0]).toMatchObject({ ...others, count: 3 })
  expect(from(2)).toBe(events[1])
})

test('a window ends after a minute, with those events that came more than once', () => {
  const repeated = merger.eventOf(refusal, at(0))
  merger.eventOf({ ...refusal, ip: '10.0.0.2' }, at(1))
  merger.eventOf(refusal, at(59_999))
  expect(merger.closed(at(59_999).wallMs)).toEqual([])
  expect(merger.closed(at(60_000).wallMs)).toEqual([repeated])
  expect(merger.eventOf(refusal, at(60_001))).not.toBe(repeated)
})

test('a clock that is set back ends a window', () => {
  const first = merger.eventOf(refusal, at(0))
  merger.closed(at(-1).wallMs)
  expect(merger.eventOf(refusal, at(-1))).not.toBe(first)
})
