import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SqliteConnection } from '../database/connection.ts'
import { PAGE_BYTES } from '../database/format.ts'
import type { NameText } from '../rows/messages.ts'
import { RowWriter } from '../rows/row-writer.ts'
import { SAMPLE_ROWS } from '../rows/rows.test-support.ts'
import { SCHEMA } from '../database/schema.ts'
import { type RowOf, TABLES, type TableName } from '../rows/tables.ts'
import { StoreRows } from './store-rows.ts'

const NAMES = 1_000
// In the index names have another order than in their table, and some have a NUL.
const nameOf = (id: number) =>
  ['public', 'g', `${(id * 7919) % NAMES}-${id % 9 === 0 ? '\0ü' : 'x'}`] as const

let directory: string
let sound: Buffer
let pages: { table: number[]; index: number[] }

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-store-rows-'))
  const path = join(directory, 'sound.db')
  const connection = new SqliteConnection(path)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  connection.exec(SCHEMA)
  const add = <T extends TableName>(table: T, rows: RowOf<T>[]) => {
    const writer = new RowWriter(connection, TABLES[table])
    for (const row of rows) writer.add(TABLES[table].encode(row as never))
    writer.flush()
  }
  const ids = Array.from({ length: NAMES }, (_, at) => at + 1)
  add(
    'config_name',
    ids.map((id) => {
      const [namespaceId, group, dataId] = nameOf(id)
      return { id, namespaceId, group, dataId }
    }),
  )
  const { config_revision: revision } = SAMPLE_ROWS
  add('config_revision', [
    { ...revision, id: 11, nameId: 1, hidden: true },
    { ...revision, id: 9, nameId: 1, hidden: false },
    { ...revision, id: 21, nameId: 2 },
  ])
  const leaves = (name: string) =>
    connection
      .all("SELECT pageno FROM dbstat WHERE name = ? AND pagetype = 'leaf' ORDER BY path", [name])
      .flat()
      .map(Number)
  pages = { table: leaves('config_name'), index: leaves('sqlite_autoindex_config_name_1') }
  connection.close()
  sound = readFileSync(path)
})
afterAll(() => rmSync(directory, { recursive: true }))

let copies = 0

/** Reads a store without some pages. */
function readWithout<T>(lost: readonly number[], read: (rows: StoreRows) => T): T {
  const bytes = Buffer.from(sound)
  for (const page of lost) bytes.fill(0, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
  const path = join(directory, `copy-${copies++}.db`)
  writeFileSync(path, bytes)
  const connection = new SqliteConnection(path)
  try {
    return read(new StoreRows(connection))
  } finally {
    connection.close()
  }
}

function namesInTable(rows: StoreRows): Map<number, NameText> {
  const names = new Map<number, NameText>()
  for (const read of rows.read('reading', () => {})) {
    if (read.kind !== 'row' || read.stored.table !== 'config_name') continue
    const { id, namespaceId, group, dataId } = read.stored.row
    names.set(id, [namespaceId, group, dataId])
  }
  return names
}

/** The numbers of the names that neither the table nor its index has. */
function namesLostWithout(...lost: number[]): number[] {
  return readWithout(lost, (rows) => {
    const found = namesInTable(rows)
    for (const { id, name } of rows.namesInIndex(new Map(found))) {
      expect([found.has(id), name]).toEqual([false, nameOf(id)])
      found.set(id, name)
    }
    return Array.from({ length: NAMES }, (_, at) => at + 1).filter((id) => !found.has(id))
  })
}

test('all names come from the table, and the index has no other', () => {
  expect(namesLostWithout()).toEqual([])
  expect(readWithout([], (rows) => [...rows.namesInIndex(namesInTable(rows))])).toEqual([])
})

test('names whose rows are lost come from the index', () => {
  expect(pages.table.length).toBeGreaterThan(3)
  expect(namesLostWithout(...pages.table.slice(2))).toEqual([])
})

test('a page of the index costs its own names', () => {
  const [, leaf = 0] = pages.table
  const rows = readWithout([leaf], namesInTable)
  const missing = NAMES - rows.size
  const lost = pages.index.flatMap((page) => namesLostWithout(leaf, page))
  // A few names are in the pages that lead to the others.
  expect(lost.length).toBeLessThanOrEqual(missing)
  expect(new Set(lost).size).toBe(lost.length)
  expect(lost.length).toBeGreaterThan(missing / 2)
})

test('the newest revision of a name comes from the index, whether or not history shows it', () => {
  const newest = readWithout([], (rows) => [1, 2, 3].map((nameId) => rows.newestInIndex(nameId)))
  expect(newest).toEqual([11, 21, 0])
})
