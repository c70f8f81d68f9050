import { expect, test } from 'vitest'
import { temporaryDatabase } from '../database.test-support.ts'
import { RowWriter } from '../row-writer.ts'
import { TABLES } from '../tables.ts'
import { storedRow, storedRowOfAny } from './store-rows.ts'

const connection = temporaryDatabase()

test('a row found outside of its table fits that table and no other with as many columns', () => {
  const writer = new RowWriter(connection(), TABLES.instance)
  const row = { serial: 3, serviceSerial: 7, healthy: true, record: '[]' }
  writer.add(TABLES.instance.encode(row))
  writer.flush()
  const [, ...values] = connection().first('SELECT * FROM instance') ?? []
  // In the file the column that is the row number is empty.
  const met = { kind: 'row', page: 2, rowid: 3, values: [null, ...values] } as const
  expect(storedRowOfAny(met)).toMatchObject({ table: 'instance', rowid: 3, row })
  expect(storedRow('config_name', met)).toBeUndefined()
})
