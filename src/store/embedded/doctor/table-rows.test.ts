import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SqliteConnection } from '../database/connection.ts'
import { PAGE_BYTES } from '../database/format.ts'
import { RowWriter } from '../rows/row-writer.ts'
import { SAMPLE_ROWS } from '../rows/rows.test-support.ts'
import { SCHEMA } from '../database/schema.ts'
import { TABLES } from '../rows/tables.ts'
import { type Met, TableRows } from './table-rows.ts'

const ROWS = 400
/** Ids of revisions are large, and have gaps where a server was restarted. */
const idOf = (row: number) => 3_677_227_335_000_001 + row * 2 + Math.floor(row / 50) * 1_000_000
const ALL = Array.from({ length: ROWS }, (_, row) => idOf(row))
/** A tenth of the rows have contents of several pages. */
const contentOf = (row: number) => Buffer.alloc(row % 10 === 0 ? 30_000 : 600, row)

let directory: string
let sound: Buffer
/** The pages with rows, in order, and the first page of a long content. */
let leaves: number[]
let overflow: number

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-rows-'))
  const path = join(directory, 'sound.db')
  const connection = new SqliteConnection(path)
  connection.exec(`PRAGMA page_size = ${PAGE_BYTES}`)
  connection.exec(SCHEMA)
  const writer = new RowWriter(connection, TABLES.config_revision)
  for (const [row, id] of ALL.entries()) {
    const values = { ...SAMPLE_ROWS.config_revision, id, content: contentOf(row) }
    writer.add(TABLES.config_revision.encode(values))
  }
  writer.flush()
  const pages = (kind: string) =>
    connection
      .all("SELECT pageno FROM dbstat WHERE name = 'config_revision' AND pagetype = ? ORDER BY path", [kind])
      .flat()
      .map(Number)
  leaves = pages('leaf')
  overflow = pages('overflow')[0] ?? 0
  connection.close()
  sound = readFileSync(path)
})
afterAll(() => rmSync(directory, { recursive: true }))

let copies = 0

/** The rows read from a changed copy of the table. */
function readAfter(change: (bytes: Buffer) => void): {
  ids: number[]
  broken: Extract<Met<unknown>, { kind: 'broken' }>[]
} {
  const bytes = Buffer.from(sound)
  change(bytes)
  const path = join(directory, `copy-${copies++}.db`)
  writeFileSync(path, bytes)
  const connection = new SqliteConnection(path)
  const inIndex = 'SELECT id FROM config_revision INDEXED BY config_revision_by_name'
  const met = [...new TableRows(connection, TABLES.config_revision, inIndex).all()]
  connection.close()
  const ids = met.flatMap((one) => (one.kind === 'row' ? [one.row.id] : []))
  return { ids, broken: met.filter((one) => one.kind === 'broken') }
}

function fill(bytes: Buffer, page: number, value: number | Buffer = 0): void {
  bytes.fill(value, (page - 1) * PAGE_BYTES, page * PAGE_BYTES)
}

/** The ids that are lost without these pages. */
function lostWithout(...pages: number[]): number[] {
  const { ids } = readAfter((bytes) => pages.forEach((page) => fill(bytes, page)))
  return ALL.filter((id) => !ids.includes(id))
}

test('a sound table is read in order, and nothing in it is broken', () => {
  expect(leaves.length).toBeGreaterThan(20)
  expect(readAfter(() => {})).toEqual({ ids: ALL, broken: [] })
})

describe('a page of zeros', () => {
  test('costs its own rows: each row is lost with one page, in order', () => {
    expect(leaves.flatMap((leaf) => lostWithout(leaf))).toEqual(ALL)
  })

  test('is reported with the numbers of its rows', () => {
    const [leaf = 0] = leaves.slice(5)
    const lost = lostWithout(leaf)
    const { broken } = readAfter((bytes) => fill(bytes, leaf))
    expect(broken).toEqual([
      { kind: 'broken', from: expect.any(Number), to: expect.any(Number), problem: expect.any(String) },
    ])
    const { from = 0, to = 0 } = broken[0] ?? {}
    expect(ALL.filter((id) => id >= from && id <= to)).toEqual(lost)
  })

  test.each([
    ['beside another one', [3, 4, 5]],
    ['with a sound one between', [3, 5]],
    ['at the beginning and the end', [0, -1]],
  ])('%s costs no other rows', (_, places) => {
    const pages = places.map((at) => leaves.at(at) ?? 0)
    const expected = pages.flatMap((page) => lostWithout(page)).sort((a, b) => a - b)
    expect(lostWithout(...pages)).toEqual(expected)
  })

  test('where the table begins costs the whole table, and that is said once', () => {
    const root = 6
    expect(sound[(root - 1) * PAGE_BYTES]).toBe(5)
    const { ids, broken } = readAfter((bytes) => fill(bytes, root))
    expect([ids, broken]).toMatchObject([[], [{ from: 1, to: undefined }]])
  })
})

test('a page of noise costs its own rows', () => {
  const [leaf = 0] = leaves.slice(7)
  const lost = lostWithout(leaf)
  const noise = Buffer.from(Array.from({ length: PAGE_BYTES }, (_, at) => (at * 7919 + (at >> 3)) & 0xff))
  const { ids } = readAfter((bytes) => {
    fill(bytes, leaf, noise)
    // It begins as a page of rows does, so that SQLite looks at them.
    sound.copy(bytes, (leaf - 1) * PAGE_BYTES, (leaf - 1) * PAGE_BYTES, (leaf - 1) * PAGE_BYTES + 8)
  })
  expect(ALL.filter((id) => !ids.includes(id))).toEqual(lost)
})

test('a long content whose page is lost costs its row', () => {
  const { ids, broken } = readAfter((bytes) => fill(bytes, overflow))
  expect(ids).toHaveLength(ROWS - 1)
  const lost = ALL.find((id) => !ids.includes(id))
  expect(broken).toMatchObject([{ from: lost, to: lost }])
})

test('a row whose number has changed costs itself, whatever its number is now', () => {
  const [leaf = 0] = leaves.slice(2)
  const page = (leaf - 1) * PAGE_BYTES
  const cell = page + sound.readUInt16BE(page + 8 + 2)
  for (const bit of [0x40, 0x01]) {
    const { ids } = readAfter((bytes) => {
      // The length takes two bytes, and the number eight.
      bytes[cell + 3]! ^= bit
    })
    expect(ids).toHaveLength(ROWS - 1)
  }
})

test('a page that leads back to the beginning of the table costs its own rows', () => {
  const [leaf = 0] = leaves.slice(9)
  const lost = lostWithout(leaf)
  const root = 6
  const { ids } = readAfter((bytes) =>
    fill(bytes, leaf, sound.subarray((root - 1) * PAGE_BYTES, root * PAGE_BYTES)),
  )
  expect(ALL.filter((id) => !ids.includes(id))).toEqual(lost)
})
