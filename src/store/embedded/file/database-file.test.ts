import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { SqliteConnection } from '../connection.ts'
import { readCatalog } from './catalog.ts'
import { DatabaseFile, PAGE_BYTES } from './database-file.ts'
import { LATER_SCHEMA, SCHEMA } from '../schema.ts'

let directory: string
let path: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-file-'))
  path = join(directory, 'waypost.db')
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** Reads from a file and lets it go. */
function read<T>(work: (file: DatabaseFile) => T): T {
  const file = new DatabaseFile(path)
  try {
    return work(file)
  } finally {
    file.close()
  }
}

/** A first page that says what it is given. */
function firstPage(said: { pageBytes?: number; format?: number; pageCount?: number }): Buffer {
  const page = Buffer.alloc(PAGE_BYTES)
  page.write('SQLite format 3\0', 'latin1')
  page.writeUInt16BE(said.pageBytes ?? PAGE_BYTES, 16)
  page.writeUInt32BE(said.pageCount ?? 1, 28)
  page.writeUInt32BE(said.format ?? 0, 60)
  return page
}

test('a file tells its format, how many pages it should have, and the pages that are there', () => {
  writeFileSync(path, Buffer.concat([firstPage({ format: 9, pageCount: 3 }), Buffer.alloc(PAGE_BYTES, 2)]))
  read((file) => {
    expect(file).toMatchObject({ hasHeader: true, format: 9, pageCount: 3, bytes: 2 * PAGE_BYTES })
    expect(file.page(2)).toEqual(Buffer.alloc(PAGE_BYTES, 2))
    expect(file.page(3)).toBeUndefined()
  })
})

test.each([
  ['begins with zeros', Buffer.alloc(2 * PAGE_BYTES + 1)],
  [
    'has pages of another size',
    Buffer.concat([firstPage({ pageBytes: 4_096, pageCount: 9 }), Buffer.alloc(PAGE_BYTES + 1)]),
  ],
])('a file that %s has no header: its size tells how many pages it has', (_, bytes) => {
  writeFileSync(path, bytes)
  read((file) => {
    expect(file).toMatchObject({ hasHeader: false, format: undefined, pageCount: 3 })
    expect(file.page(3)).toBeUndefined()
  })
})

test('an empty file has no pages', () => {
  writeFileSync(path, '')
  read((file) => {
    expect(file).toMatchObject({ hasHeader: false, format: undefined, pageCount: 0, bytes: 0 })
    expect(file.page(1)).toBeUndefined()
  })
})

test('the pages of committed transactions are read from the log, and those of an open one are not', () => {
  const connection = new SqliteConnection(path)
  connection.exec(
    `PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0`,
  )
  connection.exec('CREATE TABLE t (a); PRAGMA user_version = 7')
  connection.exec('PRAGMA cache_size = 1; BEGIN; PRAGMA user_version = 8')
  for (let row = 0; row < 100; row++) connection.run('INSERT INTO t VALUES (?)', [Buffer.alloc(PAGE_BYTES)])
  try {
    read((file) => {
      expect(file).toMatchObject({ format: 7, pageCount: 2 })
      expect(file.wal?.commits).toBeGreaterThan(0)
    })
  } finally {
    connection.close()
  }
})

test('the catalog gives the roots of all tables and indexes, also where the file has lost its own', () => {
  const connection = new SqliteConnection(path)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  connection.exec(SCHEMA + LATER_SCHEMA)
  const roots = connection.all('SELECT name, rootpage FROM sqlite_schema')
  connection.close()
  const own = read(readCatalog)
  expect(own.isOwn).toBe(true)
  expect(new Map([...Object.entries(own.tables), ...own.indexes])).toEqual(
    new Map(roots as [string, number][]),
  )
  writeFileSync(path, Buffer.alloc(PAGE_BYTES))
  expect(read(readCatalog)).toEqual({ ...own, isOwn: false })
})

test('the catalog of a file in which a table was made later gives the place where it is', () => {
  const connection = new SqliteConnection(path)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; CREATE TABLE other (a)`)
  connection.exec(SCHEMA)
  const root = connection.number("SELECT rootpage FROM sqlite_schema WHERE name = 'service'")
  connection.close()
  expect(read(readCatalog)).toMatchObject({ isOwn: true, tables: { service: root } })
})
