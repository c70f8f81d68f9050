import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import type { AuditEvent } from '../../core/audit/audit-event.ts'
import { configKey } from '../../core/config/state/config-item.ts'
import { UNLIMITED_HISTORY } from '../../core/config/state/history-limits.ts'
import { historyIdOf, itemIdOf } from '../../core/decisions/stamps.ts'
import { CallerGone } from '../../core/work/fair-queue.ts'
import { readTurns } from '../../core/work/read-turns.ts'
import { SqliteConnection } from './database/connection.ts'
import { SCHEMA } from './database/schema.ts'
import { type AskWorker, EmbeddedReads } from './embedded-reads.ts'
import { ContentPack } from './rows/content-pack.ts'
import type { Write } from './rows/messages.ts'
import { TABLES } from './rows/tables.ts'
import { writeOfChange } from './rows/writes-of-change.ts'
import { EmbeddedDatabase } from './worker/embedded-database.ts'

const KEY = configKey('public', 'g', 'a')
const GRAY = configKey('public', 'g', 'b')
const FEW = 1_000
/** More than twice as many as one slice skips. */
const MANY = 21_000
/** The rows that a slice may read. */
const MOST_ROWS = 150

const directories: string[] = []
const databases: EmbeddedDatabase[] = []
let few: EmbeddedDatabase
let many: EmbeddedDatabase

beforeAll(() => {
  few = databaseWith(FEW)
  many = databaseWith(MANY)
}, 120_000)

afterAll(() => {
  for (const database of databases) database.close()
  for (const directory of directories) rmSync(directory, { recursive: true, force: true })
})

/** A database with this number of records of each of both keys, and of audit events. */
function databaseWith(records: number): EmbeddedDatabase {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-reads-'))
  directories.push(directory)
  const database = new EmbeddedDatabase(directory, UNLIMITED_HISTORY)
  databases.push(database)
  for (let from = 1; from <= records; from += 5_000) {
    const pack = new ContentPack()
    const writes: Write[] = []
    for (let at = from; at < Math.min(from + 5_000, records + 1); at++)
      for (const [place, key] of [KEY, GRAY].entries()) {
        const write = writeOfChange({ kind: 'history-imported', record: recordOf(key, 2 * at + place) }, pack)
        if (write !== undefined) writes.push(write)
      }
    const revision = 2 * from + 10_000
    const batch = { writes, ends: [writes.length], contents: pack.pack(), events: [], revision }
    expect(database.commit(batch)).toBeUndefined()
    database.saveAudit(writes.slice(0, 2_000).map((_, at) => TABLES.audit.encode(eventOf(2 * from + at))))
  }
  return database
}

function recordOf(key: typeof KEY, stamp: number) {
  return {
    id: historyIdOf(stamp),
    key,
    op: 'U' as const,
    content: Buffer.from('x'),
    md5: 'm',
    type: 'text' as const,
    appName: '',
    encryptedDataKey: '',
    srcIp: '10.0.0.1',
    srcUser: 'ada',
    atMs: stamp,
  }
}

function eventOf(id: number): AuditEvent {
  const facts = { username: 'ada', by: 'token', ip: '10.0.0.1', operation: 'publish config' } as const
  return { id, atMs: 1, ...facts, item: 'x', result: 'done', code: '', detail: '', count: 1 }
}

/** The reads of a database, with the slices that they asked for. */
function readsOf(database: EmbeddedDatabase) {
  const slices: string[] = []
  const ask: AskWorker = async (method, args) => {
    slices.push(method)
    const answer = (database[method] as (...values: readonly unknown[]) => unknown).apply(database, [...args])
    if (Array.isArray(answer)) expect(answer.length).toBeLessThanOrEqual(MOST_ROWS)
    return answer as never
  }
  return { slices, ask, reads: new EmbeddedReads({ ask, turns: readTurns(1), reader: 'ada' }) }
}

test('the slices of a read by id do not depend on the number of records', async () => {
  const counted: string[][] = []
  for (const database of [few, many]) {
    const { slices, reads } = readsOf(database)
    const oldest = historyIdOf(2)
    expect((await reads.historyRecord(oldest, KEY))?.id).toBe(oldest)
    expect((await reads.historyAfter(KEY, oldest))?.id).toBe(historyIdOf(4))
    expect((await reads.historyBefore(KEY, historyIdOf(4)))?.id).toBe(oldest)
    expect(await reads.historyThere([oldest, 8])).toEqual([oldest])
    expect([...(await reads.authors([{ key: KEY, historyId: oldest }]))]).toEqual([[oldest, 'ada']])
    await reads.lastUpdate(KEY, itemIdOf(1))
    await reads.findAudit(ANY_EVENT, 10)
    counted.push(slices)
  }
  expect(counted[1]).toEqual(counted[0])
  expect(counted[0]).toHaveLength(7)
})

test('a page deep in a history skips ids in slices, and counts the records once', async () => {
  const { slices, reads } = readsOf(many)
  const page = { pageNo: (2 * MANY) / 500, pageSize: 500 }
  const { totalCount, entries } = await reads.history([KEY, GRAY], page)
  expect([totalCount, entries.length, entries.at(-1)?.id]).toEqual([2 * MANY, 500, historyIdOf(2)])
  expect(entries.map(({ key }) => key.text).slice(-2)).toEqual([GRAY.text, KEY.text])
  expect(count(slices)).toEqual({ historyTotal: 4, historySkip: 3, historyEntries: 4 })
  slices.length = 0
  await reads.history([KEY, GRAY], page)
  expect(count(slices)).toEqual({ historyTotal: 2, historySkip: 3, historyEntries: 4 })
  slices.length = 0
  expect(await reads.history([KEY], { pageNo: 1_000_000, pageSize: 500 })).toMatchObject({ entries: [] })
  expect(count(slices)).toEqual({ historyTotal: 1 })
})

test('readers take turns, one slice is under way, and what has no place is refused', async () => {
  const turns = readTurns(1)
  const order: string[] = []
  let underWay = 0
  const askFor =
    (reader: string): AskWorker =>
    async (_method, _args) => {
      expect(++underWay).toBe(1)
      await new Promise((resolve) => setImmediate(resolve))
      underWay--
      order.push(reader)
      return undefined as never
    }
  const readFor = (reader: string) =>
    new EmbeddedReads({ ask: askFor(reader), turns, reader }).historyBefore(KEY, 1)
  const ofAda = Array.from({ length: 700 }, () => readFor('ada').catch((error: unknown) => error))
  const ofBob = [readFor('bob'), readFor('bob')]
  await Promise.all(ofBob)
  expect(order).toEqual(['ada', 'ada', 'bob', 'ada', 'bob'])
  const refused = (await Promise.all(ofAda)).filter((result) => result !== undefined)
  expect(refused).toHaveLength(201)
  expect(refused[0]).toMatchObject({ code: 'too-many-reads', facts: { retryAfterSeconds: 1 } })
})

test('a read whose caller has gone asks for no further slice', async () => {
  const { slices, ask } = readsOf(few)
  let isGone = false
  const asked: AskWorker = (method, args) => {
    isGone = true
    return ask(method, args)
  }
  const reader = { client: 'ada', isGone: () => isGone }
  const reads = new EmbeddedReads({ ask: asked, turns: readTurns(1), reader })
  const page = reads.history([KEY, GRAY], { pageNo: 1, pageSize: 500 })
  await expect(page).rejects.toBeInstanceOf(CallerGone)
  expect(slices).toHaveLength(1)
})

test('every read is a search of an index or of a key: none looks at a whole table', async () => {
  const asked = new Set<string>()
  const spies = [vi.spyOn(SqliteConnection.prototype, 'all'), vi.spyOn(SqliteConnection.prototype, 'first')]
  const { reads } = readsOf(few)
  try {
    const id = historyIdOf(2)
    await reads.history([KEY], { pageNo: 2, pageSize: 10 })
    await reads.history([KEY, GRAY], { pageNo: 2, pageSize: 10 })
    await reads.historyRecord(id, KEY)
    await reads.historyThere([id])
    await reads.historyBefore(KEY, id)
    await reads.historyAfter(KEY, id)
    await reads.lastUpdate(KEY, itemIdOf(1))
    await reads.authors([{ key: KEY, historyId: id }])
    await reads.findAudit(ANY_EVENT, 10)
  } finally {
    for (const spy of spies) for (const [sql] of spy.mock.calls) asked.add(sql)
    vi.restoreAllMocks()
  }
  const steps = stepsOf(asked)
  const tables = steps.filter((step) => /config_revision|record|audit|config_name/.test(step))
  expect(tables.length).toBeGreaterThan(10)
  expect(tables.filter((step) => !/^SEARCH .* USING /.test(step))).toEqual([])
  expect(steps.filter((step) => step.includes('TEMP B-TREE'))).toEqual([])
})

/** The plans of SQLite for these queries. */
function stepsOf(queries: Iterable<string>): string[] {
  const connection = new SqliteConnection(':memory:')
  connection.exec(SCHEMA)
  const steps: string[] = []
  for (const sql of queries)
    for (const row of connection.all(`EXPLAIN QUERY PLAN ${sql}`)) steps.push(String(row[3]))
  connection.close()
  return steps
}

const ANY_EVENT = {
  username: undefined,
  operation: undefined,
  itemPart: undefined,
  ip: undefined,
  result: undefined,
  fromMs: undefined,
  toMs: undefined,
  before: undefined,
}

function count(slices: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const method of slices) counts[method] = (counts[method] ?? 0) + 1
  return counts
}
