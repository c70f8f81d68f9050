import { expect, test } from 'vitest'
import { temporaryDatabase } from '../worker/database.test-support.ts'
import { RowWriter } from './row-writer.ts'
import { TABLES } from './tables.ts'

const connection = temporaryDatabase()

test('a row that is written and deleted alternately ends in its last state', () => {
  const writer = new RowWriter(connection(), TABLES.record)
  const expected = new Map<string, string>()
  for (let step = 0; step < 3_000; step++) {
    const id = String((step * 7_919) % 97)
    // Long and short runs of each, so that statements of all sizes are used.
    if (Math.floor(step / ((step % 5) + 1)) % 3 === 0 || step % 400 > 300) {
      writer.drop(['toy', id])
      expected.delete(id)
    } else {
      writer.add(['toy', id, `value ${step}`])
      expected.set(id, `value ${step}`)
    }
  }
  writer.flush()
  const rows = connection().all('SELECT id, value FROM record')
  // A row that is replaced keeps its place in the order, as in a Map.
  expect([...new Map(rows as [string, string][])]).toEqual([...expected])
})

test('a row with a key of several columns is deleted by all its columns', () => {
  const writer = new RowWriter(connection(), TABLES.record)
  const keys = Array.from({ length: 40 }, (_, at) => [`kind ${at % 20}`, `id ${at}`])
  for (const key of keys) writer.add([...key, '{}'])
  for (const key of keys.slice(1)) writer.drop(key)
  writer.drop(['kind 0', 'another'])
  writer.flush()
  expect(connection().all('SELECT kind, id FROM record')).toEqual([['kind 0', 'id 0']])
})
