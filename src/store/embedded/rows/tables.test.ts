import { describe, expect, test } from 'vitest'
import { checksumColumnsOf, columnsOf, RowReader } from './row-reader.ts'
import { temporaryDatabase } from '../worker/database.test-support.ts'
import { RowWriter } from './row-writer.ts'
import { SAMPLE_ROWS } from './rows.test-support.ts'
import type { Table } from './table.ts'
import { TABLE_NAMES, type TableName, TABLES } from './tables.ts'

const connection = temporaryDatabase()

describe.each(TABLE_NAMES)('a row of the table %s', (name) => {
  const [table, row] = definitionOf(name)

  test('is decoded from its values as it was encoded', () => {
    const values = table.encode(row)
    expect(values).toHaveLength(columnsOf(table).length)
    expect(table.decode(values)).toEqual(row)
  })

  test('has fields that can be read and replaced in its values one by one', () => {
    const [first = ''] = Object.keys(row as object)
    const values = table.encode(row)
    for (const [field, value] of Object.entries(row as object))
      expect(table.field(values, field as never)).toEqual(value)
    const other = { [first]: 'other' }
    expect(table.decode(table.replace(values, other as never))).toEqual({ ...(row as object), ...other })
    expect(table.decode(values)).toEqual(row)
  })

  test('is read from the database as it was written, each field in its own column', () => {
    expect(stored(name)).toEqual(row)
    const columns = new Set(connection().all(`SELECT name FROM pragma_table_info('${name}')`).flat())
    expect(columns).toEqual(new Set([...columnsOf(table), ...checksumColumnsOf(table)]))
  })

  test('is refused after any of its checked columns has changed', () => {
    stored(name)
    const checked = [...table.checked, ...(table.content === undefined ? [] : [table.content])]
    for (const column of checked) {
      connection().exec('SAVEPOINT change')
      const change = column === table.content ? "x'00'" : `${column} || '1'`
      connection().exec(`PRAGMA ignore_check_constraints = ON; UPDATE ${name} SET ${column} = ${change}`)
      expect(() => read(name), column).toThrow(/damaged: its checksum/)
      connection().exec('ROLLBACK TO change; RELEASE change')
    }
  })
})

test('a reader without contents gives a row whose content is damaged, and no content', () => {
  stored('config_revision')
  connection().exec("UPDATE config_revision SET content = x'00'")
  const reader = new RowReader(TABLES.config_revision, { as: 'it', content: false })
  const found = connection().all(`SELECT ${reader.columns.join(', ')} FROM config_revision AS it`)
  expect(found.map((values) => reader.read(values))).toEqual([
    { ...SAMPLE_ROWS.config_revision, content: null },
  ])
  connection().exec("UPDATE config_revision SET md5 = ''")
  const [values = []] = connection().all(`SELECT ${reader.columns.join(', ')} FROM config_revision AS it`)
  expect(() => reader.read(values)).toThrow('The row 3 of the table config_revision is damaged')
})

/** The table, and a row of it, of any type. */
function definitionOf(name: TableName): [Table<unknown>, unknown] {
  return [TABLES[name] as Table<unknown>, SAMPLE_ROWS[name]]
}

/** Writes the row; gives it as it is read then. */
function stored(name: TableName): unknown {
  const [table, row] = definitionOf(name)
  connection().exec(`DELETE FROM ${name}`)
  const writer = new RowWriter(connection(), table)
  writer.add(table.encode(row))
  writer.flush()
  return read(name)
}

function read(name: TableName): unknown {
  const [values = []] = connection().all(sqlOf(name))
  return new RowReader(definitionOf(name)[0]).read(values)
}

function sqlOf(name: TableName): string {
  return `SELECT ${new RowReader(definitionOf(name)[0]).columns.join(', ')} FROM ${name}`
}
