import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { SqliteConnection } from '../connection.ts'
import { DatabaseFile, PAGE_BYTES } from './database-file.ts'
import {
  interiorPage,
  leafPage,
  pagesOf,
  record,
  rowCell,
  treePage,
  uint32,
  varint,
} from './pages.test-support.ts'
import { freePages, looseRows, type Met, type Pages, walkTree } from './tree-walk.ts'

/** Page 1 is not part of the trees here. */
const FIRST = Buffer.alloc(PAGE_BYTES)

/** What a walk from page 2 meets, in short. */
function walked(pages: Pages): unknown[] {
  return [...walkTree(pages, 2, new Set())].map(inShort)
}

function inShort(met: Met): unknown {
  switch (met.kind) {
    case 'row':
      return [met.rowid, ...met.values]
    case 'broken-row':
      return `row ${met.rowid} of page ${met.page}: ${met.problem}`
    case 'broken-page':
      return `page ${met.page}: ${met.problem}`
  }
}

describe('a walk through a tree', () => {
  test('gives the rows of a page with their values', () => {
    const cells = [rowCell(1, ['a', 7, null]), rowCell(300, [Buffer.from([1, 2])])]
    expect(walked(pagesOf(FIRST, leafPage(...cells)))).toEqual([
      [1, 'a', 7, null],
      [300, Buffer.from([1, 2])],
    ])
  })

  test('gives the rows below interior pages in order', () => {
    const pages = pagesOf(
      FIRST,
      interiorPage(5, 3),
      interiorPage(4, 6),
      leafPage(rowCell(2, ['second'])),
      leafPage(rowCell(1, ['first'])),
      leafPage(rowCell(3, ['third'])),
    )
    expect(walked(pages)).toEqual([
      [1, 'first'],
      [2, 'second'],
      [3, 'third'],
    ])
  })

  test('gives the rows of an index, those of interior pages too, with the rowid that ends them', () => {
    const key = (text: string, rowid: number) => {
      const bytes = record([text, rowid])
      return Buffer.concat([varint(bytes.length), bytes])
    }
    const pages = pagesOf(
      FIRST,
      treePage(2, [Buffer.concat([uint32(3), key('b', 20)])], 4),
      treePage(10, [key('a', 10)]),
      treePage(10, [key('c', 30)]),
    )
    expect(walked(pages)).toEqual([
      [20, 'b', 20],
      [10, 'a', 10],
      [30, 'c', 30],
    ])
  })

  test.each([
    ['is missing', undefined, 'it is beyond the end of the file, which was cut'],
    ['is all zeros', Buffer.alloc(PAGE_BYTES), 'it is all zeros'],
    ['has an unknown kind', Buffer.alloc(PAGE_BYTES, 7), 'it is no page of a table or an index'],
    ['has too many rows', withRowCount(5_000), 'it says that it has more rows than fit'],
  ])('reports a page that %s, and goes on after it', (_, broken, problem) => {
    const pages = pagesOf(FIRST, interiorPage(3, 4), broken, leafPage(rowCell(9, ['last'])))
    expect(walked(pages)).toEqual([`page 3: ${problem}`, [9, 'last']])
  })

  test('reports a child that the file cannot have', () => {
    const pages = pagesOf(FIRST, interiorPage(0, 99, 3), leafPage(rowCell(9, ['last'])))
    expect(walked(pages)).toEqual([
      'page 0: the file has no page 0',
      'page 99: the file has no page 99',
      [9, 'last'],
    ])
  })

  test('ends where pages lead in a circle', () => {
    const pages = pagesOf(FIRST, interiorPage(3, 2), interiorPage(2, 4), leafPage(rowCell(9, ['last'])))
    expect(walked(pages)).toEqual(['page 2: it is used twice', [9, 'last'], 'page 2: it is used twice'])
  })

  test('reports a page that another tree has claimed', () => {
    const pages = pagesOf(FIRST, leafPage(rowCell(1, ['a'])))
    const visited = new Set<number>()
    expect([...walkTree(pages, 2, visited)]).toHaveLength(1)
    expect([...walkTree(pages, 2, visited)].map(inShort)).toEqual(['page 2: it is used twice'])
  })

  test('reports a broken row with its rowid, and goes on after it', () => {
    const cells = [
      Buffer.concat([varint(3), varint(1), Buffer.from([2, 10, 0])]),
      Buffer.concat([varint(3), varint(2), Buffer.from([2, 33, 0])]),
      rowCell(3, ['sound']),
    ]
    expect(walked(pagesOf(FIRST, leafPage(...cells)))).toEqual([
      'row 1 of page 2: a value has the unknown type 10',
      'row 2 of page 2: a value goes beyond its record',
      [3, 'sound'],
    ])
  })

  test('reports a row that goes beyond its page', () => {
    const page = leafPage(rowCell(1, ['a']), rowCell(2, ['b']))
    // The length of the first row, which is stored last in the page.
    page[page.readUInt16BE(8)] = 100
    expect(walked(pagesOf(FIRST, page))).toEqual(['row 1 of page 2: a row goes beyond its page', [2, 'b']])
  })
})

describe('a row longer than its page', () => {
  const text = 'long '.repeat(4_000)

  /** A leaf with that row and a short one, and the pages that its chain goes through: 4, then 3. */
  function longRow() {
    const bytes = record([text])
    // SQLite's file format, "Cell Payload Overflow Pages".
    const least = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23
    const wanted = least + ((bytes.length - least) % (PAGE_BYTES - 4))
    const local = wanted <= PAGE_BYTES - 35 ? wanted : least
    const cell = Buffer.concat([varint(bytes.length), varint(1), bytes.subarray(0, local), uint32(4)])
    const link = (next: number, part: Buffer) => {
      const page = Buffer.alloc(PAGE_BYTES)
      page.writeUInt32BE(next)
      part.copy(page, 4)
      return page
    }
    const second = local + PAGE_BYTES - 4
    return {
      leaf: leafPage(cell, rowCell(2, ['short'])),
      third: link(0, bytes.subarray(second)),
      fourth: link(3, bytes.subarray(local, second)),
    }
  }

  test('is put together from its chain of pages', () => {
    const { leaf, third, fourth } = longRow()
    expect(walked(pagesOf(FIRST, leaf, third, fourth))).toEqual([
      [1, text],
      [2, 'short'],
    ])
  })

  test('is broken where a page of its chain is missing, and the next row is not', () => {
    const { leaf, fourth } = longRow()
    expect(walked(pagesOf(FIRST, leaf, undefined, fourth))).toEqual([
      'row 1 of page 2: a part of the row, page 3, is not in the file',
      [2, 'short'],
    ])
  })

  test('is broken where its length is more than the file has', () => {
    const { leaf } = longRow()
    expect(walked(pagesOf(FIRST, leaf))).toEqual([
      'row 1 of page 2: a row says that it is longer than the file',
      [2, 'short'],
    ])
  })
})

describe('rows that no tree leads to', () => {
  test('are read from a page of a table', () => {
    const pages = pagesOf(FIRST, leafPage(rowCell(1, ['a'])))
    expect([...looseRows(pages, 2)].map(inShort)).toEqual([[1, 'a']])
  })

  test('are not looked for in pages of another kind', () => {
    const pages = pagesOf(
      FIRST,
      interiorPage(1),
      treePage(10, [record(['a', 1])]),
      withRowCount(5_000),
      undefined,
    )
    for (const page of [2, 3, 4, 5, 6]) expect([...looseRows(pages, page)]).toEqual([])
  })
})

describe('the list of free pages', () => {
  function firstPage(trunk: number): Buffer {
    const page = Buffer.alloc(PAGE_BYTES)
    page.writeUInt32BE(trunk, 32)
    return page
  }

  function trunk(next: number, ...leaves: number[]): Buffer {
    const page = Buffer.alloc(PAGE_BYTES)
    for (const [at, value] of [next, leaves.length, ...leaves].entries()) page.writeUInt32BE(value, at * 4)
    return page
  }

  test('is read from trunk to trunk', () => {
    const pages = pagesOf(firstPage(2), trunk(4, 3, 5), FIRST, trunk(0, 6), FIRST, FIRST)
    expect([...freePages(pages)].sort()).toEqual([2, 3, 4, 5, 6])
  })

  test('is empty where the first page says so or is missing', () => {
    expect(freePages(pagesOf(firstPage(0))).size).toBe(0)
    expect(freePages(pagesOf(undefined)).size).toBe(0)
  })

  test('ends where trunks lead in a circle or out of the file', () => {
    expect([...freePages(pagesOf(firstPage(2), trunk(3), trunk(2)))]).toEqual([2, 3])
    expect([...freePages(pagesOf(firstPage(2), trunk(99)))]).toEqual([2])
    expect([...freePages(pagesOf(firstPage(2), undefined))]).toEqual([2])
  })
})

test('a walk through a file of SQLite gives what SQLite gives', () => {
  const directory = mkdtempSync(join(tmpdir(), 'waypost-walk-'))
  const path = join(directory, 'waypost.db')
  const connection = new SqliteConnection(path)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}; PRAGMA journal_mode = WAL;
    CREATE TABLE t (id INTEGER PRIMARY KEY, number, text, bytes BLOB); BEGIN`)
  const lengths = [1, 100, 8_100, 8_157, 8_158, 8_192, 20_000, 100_000]
  for (let id = 1; id <= 600; id++) {
    const length = id % 20 === 0 ? lengths[(id / 20) % lengths.length]! : 1 + (id % 50)
    const number = (id - 300) * 2 ** (id % 44)
    const values = [id * 1_000_003, number, 'ü'.repeat(id % 70), Buffer.alloc(length, id)]
    connection.run('INSERT INTO t VALUES (?, ?, ?, ?)', values)
  }
  connection.exec('COMMIT')
  const file = new DatabaseFile(path)
  try {
    const root = connection.number("SELECT rootpage FROM sqlite_schema WHERE name = 't'")
    const rows = [...walkTree(file, root, new Set())].map((met) =>
      met.kind === 'row' ? [met.rowid, ...met.values.slice(1)] : met,
    )
    expect(rows).toEqual(connection.all('SELECT * FROM t ORDER BY id'))
  } finally {
    file.close()
    connection.close()
    rmSync(directory, { recursive: true })
  }
})

/** A page whose header has this number of rows, and that has none. */
function withRowCount(count: number): Buffer {
  const page = leafPage()
  page.writeUInt16BE(count, 3)
  return page
}
