import { expect, test, vi } from 'vitest'
import type { Write } from '../rows/messages.ts'
import { TABLES } from '../rows/tables.ts'
import { CommitWriter } from './commit.ts'
import { commitPartsOf, temporaryDatabase } from './database.test-support.ts'
import { readBatches } from './load.ts'

const connection = temporaryDatabase()

test('records are read in parts of few bytes, in their order: the driver reads a hundred rows ahead', () => {
  const idsOf = (count: number): string[] => Array.from({ length: count }, (_, at) => `${at}`)
  const writes = idsOf(20).map((id, at): Write => {
    const value = JSON.stringify('x'.repeat(at % 10 === 0 ? 10 : 700_000))
    return ['put', 'record', TABLES.record.encode({ recordKind: 'gray-text', id, value })]
  })
  const batch = { writes, ends: [writes.length], contents: new ArrayBuffer(0), revision: 3, events: [] }
  new CommitWriter(connection(), commitPartsOf(connection())).commit(batch)
  const all = vi.spyOn(connection(), 'all')
  const batches = [...readBatches(connection())]
  const parts = all.mock.calls.flatMap(([sql], at) =>
    sql.includes('BETWEEN') ? [(all.mock.results[at]!.value as unknown[]).length] : [],
  )
  all.mockRestore()
  expect(parts.reduce((sum, rows) => sum + rows, 0)).toBe(20)
  expect(Math.max(...parts)).toBeLessThanOrEqual(3)
  const rows = batches.flatMap((one) => (one.kind === 'records' ? one.rows : []))
  expect(rows.map((values) => TABLES.record.decode(values).id)).toEqual(idsOf(20))
})
