import { expect, test } from 'vitest'
import { lastStampOf } from '../../../core/decisions/stamps.ts'
import { CommitWriter } from './commit.ts'
import { ConfigNames } from '../history/config-names.ts'
import { storable } from '../database/connection.ts'
import { commitPartsOf, temporaryDatabase } from './database.test-support.ts'
import { entriesBefore } from '../history/history.ts'
import type { CommitBatch, Write } from '../rows/messages.ts'
import { SAMPLE_ROWS } from '../rows/rows.test-support.ts'
import { StoreFailure, storeFailureOf } from '../database/store-errors.ts'
import { TABLES } from '../rows/tables.ts'

const connection = temporaryDatabase()

test('a full disk refuses commits, leaves reads going, and commits go on when there is room', () => {
  const names = new ConfigNames(connection())
  const commits = commitsWith(names)
  expect(commits.commit(batchOf(3, 'first'))).toBeUndefined()
  connection().exec('PRAGMA max_page_count = 20')
  const refused = failureOf(() => commits.commit(batchOf(5, 'x'.repeat(500_000))))
  expect(refused?.message).toMatch(/disk of its data directory is full; free some space/)
  expect(refused?.reopen).toBe(false)
  const name = ['public', 'g', 'a'] as const
  const page = { before: Number.MAX_SAFE_INTEGER, most: 10 }
  expect(entriesBefore(connection(), [names.find(name) ?? 0], page)).toHaveLength(1)
  connection().exec('PRAGMA max_page_count = 1000000')
  expect(commits.commit(batchOf(5, 'x'.repeat(500_000)))).toBeUndefined()
  expect(entriesBefore(connection(), [names.find(name) ?? 0], page)).toHaveLength(2)
})

test('an error of the disk keeps the connection, damage does not, and one of the data does not concern the store', () => {
  const sqlite = (code: string) => Object.assign(new Error('x'), { code })
  expect(storeFailureOf(sqlite('SQLITE_IOERR_FSYNC'))?.reopen).toBe(false)
  expect(storeFailureOf(sqlite('SQLITE_CORRUPT'))?.message).toContain('waypost doctor')
  expect(storeFailureOf(sqlite('SQLITE_CONSTRAINT_NOTNULL'))).toBeUndefined()
  expect(storeFailureOf(new Error('x'))).toBeUndefined()
})

test('the clock is written ahead, and not again while it is ahead enough', () => {
  const commits = commitsWith(new ConfigNames(connection()))
  const clockAfter = (latestMs: number, id: number) => {
    commits.commit({ ...batchOf(id, 'x'), revision: lastStampOf(latestMs) })
    return connection().number("SELECT value FROM meta WHERE name = 'clock_high_ms'")
  }
  expect(clockAfter(10_000, 3)).toBe(70_000)
  expect(clockAfter(39_999, 5)).toBe(70_000)
  expect(clockAfter(40_000, 7)).toBe(70_000)
  expect(clockAfter(40_001, 9)).toBe(100_001)
  expect(clockAfter(9_000, 11)).toBe(100_001)
})

test('history records are never overwritten', () => {
  const commits = commitsWith(new ConfigNames(connection()))
  expect(commits.commit(batchOf(3, 'one'))).toBeUndefined()
  expect(commits.commit(batchOf(3, 'two'))).toMatchObject({ failedGroup: 0 })
})

test('the file is set up for durability', () => {
  const pragma = (name: string) => connection().first(`PRAGMA ${name}`)?.[0]
  expect(pragma('journal_mode')).toBe('wal')
  expect(pragma('synchronous')).toBe(2)
  expect(pragma('locking_mode')).toBe('exclusive')
  expect(pragma('page_size')).toBe(8_192)
  expect(pragma('wal_autocheckpoint')).toBe(1_500)
})

test('only values that come back as they went in are stored', () => {
  expect(storable('a\ud800b')).toBe('a\ufffdb')
  for (const value of [undefined, true, Number.NaN, Infinity, 2 ** 60, {}, 1n]) {
    expect(() => storable(value)).toThrow('cannot be stored')
  }
})

function commitsWith(names: ConfigNames): CommitWriter {
  return new CommitWriter(connection(), commitPartsOf(connection(), names))
}

/** A commit of one published revision `id` of the item a. */
function batchOf(id: number, text: string): CommitBatch {
  const content = Buffer.from(text)
  const contents = new Uint8Array(content).buffer
  const op = id === 3 ? 'I' : 'U'
  const version = { id, op, prevId: null, hidden: false, content: null } as const
  const revision = { ...SAMPLE_ROWS.config_revision, ...version }
  const item = { ...SAMPLE_ROWS.config_item, revisionId: id }
  const rows = [TABLES.config_revision.encode(revision), TABLES.config_item.encode(item)] as const
  const write: Write = ['published', ['public', 'g', 'a'], ...rows, 0, content.length, 0]
  return { writes: [write], ends: [1], contents, events: [], revision: id }
}

function failureOf(work: () => unknown): StoreFailure | undefined {
  try {
    work()
  } catch (error) {
    if (error instanceof StoreFailure) return error
  }
  return undefined
}
