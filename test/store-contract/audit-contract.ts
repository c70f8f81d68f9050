import { expect, test } from 'vitest'
import type { AuditEvent, AuditLimit, AuditSearch } from '../../src/core/audit/audit-event.ts'
import { Stamps } from '../../src/core/decisions/stamps.ts'
import type { ContractStore, StoreBench } from './contract-store.ts'
import { ANY_EVENT, sampleEvent, START_MS } from './samples.ts'

const LIMIT: AuditLimit = { beforeMs: 0, keep: 1_000_000, keepRefused: 1_000_000, most: 1_000 }

/** The events of the audit that the store keeps. */
export function auditContract(bench: StoreBench): void {
  test('events of the audit are found as they were saved, newest first, also after a restart', async () => {
    let store = await bench.fresh()
    const events = [
      sampleEvent({ username: '-', by: 'none', result: 'refused', code: 'forbidden', count: 7 }),
      sampleEvent({ item: 'ü\0"', detail: 'published 1, skipped 2, failed 0' }),
    ]
    await store.kept.saveAudit(events)
    expect(await store.reads.findAudit(ANY_EVENT, 10)).toEqual({
      events: events.toReversed(),
      goOn: undefined,
    })
    store = await bench.reopen(store)
    expect((await store.reads.findAudit(ANY_EVENT, 10)).events).toEqual(events.toReversed())
  })

  test('events of the audit survive the end of the process', async () => {
    const store = await bench.fresh()
    const event = sampleEvent()
    await store.kept.saveAudit([event])
    const after = await bench.crash(store)
    expect((await after.reads.findAudit(ANY_EVENT, 10)).events).toEqual([event])
  })

  test('an event of the audit with the id of another one replaces it', async () => {
    const store = await bench.fresh()
    const event = sampleEvent({ result: 'refused' })
    await store.kept.saveAudit([event])
    await store.kept.saveAudit([{ ...event, count: 5 }])
    expect((await store.reads.findAudit(ANY_EVENT, 10)).events).toEqual([{ ...event, count: 5 }])
  })

  test.each<[string, Partial<AuditSearch>]>([
    ['user', { username: 'bob' }],
    ['operation', { operation: 'delete config' }],
    ['part of the item', { itemPart: ':config/b' }],
    ['address', { ip: '10.0.0.2' }],
    ['result', { result: 'refused' }],
    ['earliest time', { fromMs: START_MS + 1 }],
  ])('events of the audit are found by %s', async (_, search) => {
    const store = await bench.fresh()
    const other = sampleEvent({ atMs: START_MS })
    const event = sampleEvent({
      username: 'bob',
      operation: 'delete config',
      item: 'dev:G:config/b.yaml',
      ip: '10.0.0.2',
      result: 'refused',
      atMs: START_MS + 1,
    })
    await store.kept.saveAudit([other, event])
    expect((await store.reads.findAudit({ ...ANY_EVENT, ...search }, 10)).events).toEqual([event])
    expect((await store.reads.findAudit({ ...ANY_EVENT, toMs: START_MS }, 10)).events).toEqual([other])
  })

  test('a search of the audit continues where it stopped, whatever is saved meanwhile', async () => {
    const store = await bench.fresh()
    const events = Array.from({ length: 25 }, () => sampleEvent())
    await store.kept.saveAudit(events)
    const first = await store.reads.findAudit(ANY_EVENT, 10)
    await store.kept.saveAudit([sampleEvent()])
    const second = await store.reads.findAudit({ ...ANY_EVENT, before: first.goOn }, 15)
    expect([...first.events, ...second.events]).toEqual(events.toReversed())
    expect(second.goOn).toBeUndefined()
  })

  test('a search of the audit that finds little looks at a bounded number of events at a time', async () => {
    const store = await bench.fresh()
    const rare = sampleEvent({ username: 'bob' })
    await store.kept.saveAudit([rare, ...Array.from({ length: 12_000 }, () => sampleEvent())])
    const found: AuditEvent[] = []
    let before: number | undefined
    let searches = 0
    do {
      const { events, goOn } = await store.reads.findAudit({ ...ANY_EVENT, username: 'bob', before }, 10)
      found.push(...events)
      before = goOn
      searches++
    } while (before !== undefined)
    expect(found).toEqual([rare])
    expect(searches).toBeGreaterThan(1)
  })

  test('cleaning the audit removes events that are too old, and at most as many as it may', async () => {
    const store = await bench.fresh()
    // Stamps of the samples are ahead of these times.
    const own = new Stamps()
    const events = [1, 2, 3, 4].map((ms) => sampleEvent({ atMs: START_MS + ms, id: own.next(START_MS + ms) }))
    await store.kept.saveAudit(events)
    const limit = { ...LIMIT, beforeMs: START_MS + 3 }
    expect(await store.kept.cleanAudit({ ...limit, most: 1 })).toEqual({ removed: 1, more: true })
    expect(await cleaned(store, limit)).toEqual(events.slice(2).toReversed())
  })

  test('cleaning the audit takes limits that remove nothing', async () => {
    const store = await bench.fresh()
    const event = sampleEvent()
    await store.kept.saveAudit([event])
    expect(await cleaned(store, { ...LIMIT, beforeMs: -START_MS })).toEqual([event])
  })

  test('cleaning the audit takes many small steps where there are many events', async () => {
    const store = await bench.fresh()
    const events = Array.from({ length: 5_000 }, (_, n) =>
      sampleEvent({ result: n % 2 === 0 ? 'done' : 'refused' }),
    )
    await store.kept.saveAudit(events)
    const kept = await cleaned(store, { ...LIMIT, keep: 1_000, keepRefused: 100, most: 300 })
    expect(kept.filter(({ result }) => result === 'refused')).toHaveLength(100)
    expect(kept).toHaveLength(1_000)
    expect(kept.at(0)).toEqual(events.at(-1))
  })

  test('cleaning the audit keeps the newest events', async () => {
    const store = await bench.fresh()
    const events = Array.from({ length: 10 }, () => sampleEvent())
    await store.kept.saveAudit(events.slice(0, 6))
    expect(await cleaned(store, { ...LIMIT, keep: 5 })).toHaveLength(5)
    await store.kept.saveAudit(events.slice(6))
    expect(await cleaned(store, { ...LIMIT, keep: 5 })).toEqual(events.slice(5).toReversed())
    expect(await cleaned(store, { ...LIMIT, keep: 5 })).toHaveLength(5)
  })

  test('refusals have a limit of their own in the audit: they drive out nothing that was done', async () => {
    const store = await bench.fresh()
    const done = [sampleEvent(), sampleEvent()]
    const refused = Array.from({ length: 10 }, () => sampleEvent({ result: 'refused' }))
    await store.kept.saveAudit([...done, ...refused])
    const kept = await cleaned(store, { ...LIMIT, keep: 5, keepRefused: 3 })
    expect(kept).toEqual([...done, ...refused.slice(-3)].toReversed())
  })

  test('stamps are later than the ids of the audit, also after all others are gone', async () => {
    let store = await bench.fresh()
    await store.load()
    const event = sampleEvent({ atMs: START_MS + 1_000_000_000 })
    await store.kept.saveAudit([event])
    await cleaned(store, { ...LIMIT, beforeMs: event.atMs + 1 })
    store = await bench.reopen(store)
    expect((await store.load()).largestStamp).toBeGreaterThanOrEqual(event.id)
  })
}

/** Cleans until nothing is left to do; gives what stays, newest first. */
async function cleaned(store: ContractStore, limit: AuditLimit): Promise<readonly AuditEvent[]> {
  while ((await store.kept.cleanAudit(limit)).more);
  const found: AuditEvent[] = []
  let before: number | undefined
  do {
    const { events, goOn } = await store.reads.findAudit({ ...ANY_EVENT, before }, 1_000)
    found.push(...events)
    before = goOn
  } while (before !== undefined)
  return found
}
