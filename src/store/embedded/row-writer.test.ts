import { expect, test } from 'vitest'
import { temporaryDatabase } from './database.test-support.ts'
import { RowWriter } from './row-writer.ts'
import { TABLES } from './tables.ts'

const connection = temporaryDatabase()

test('rows that are written and dropped by turns end as the last of both says', () => {
  const writer = new RowWriter(connection(), TABLES.namespace)
  const expected = new Map<string, string>()
  for (let step = 0; step < 3_000; step++) {
    const id = String((step * 7_919) % 97)
    // Long and short runs of each, so that statements of all sizes are used.
    if (Math.floor(step / ((step % 5) + 1)) % 3 === 0 || step % 400 > 300) {
      writer.drop([id])
      expected.delete(id)
    } else {
      writer.add([id, `name ${step}`, ''])
      expected.set(id, `name ${step}`)
    }
  }
  writer.flush()
  const rows = connection().all('SELECT id, show_name FROM namespace')
  expect(new Map(rows as [string, string][])).toEqual(expected)
})

test('a row with a key of several columns is dropped by all of them', () => {
  const writer = new RowWriter(connection(), TABLES.remembered_metadata)
  const keys = Array.from({ length: 40 }, (_, at) => ['public', 'g@@s', `10.0.0.${at % 20}`, 80, `c${at}`])
  for (const key of keys) writer.add([...key, '{}', 1])
  for (const key of keys.slice(1)) writer.drop(key)
  writer.drop(['public', 'g@@s', '10.0.0.0', 80, 'another'])
  writer.flush()
  expect(connection().all('SELECT ip, cluster FROM remembered_metadata')).toEqual([['10.0.0.0', 'c0']])
})
