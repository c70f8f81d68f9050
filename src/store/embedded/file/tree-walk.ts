import { PAGE_BYTES, type DatabaseFile } from './database-file.ts'
import type { SqlValue } from '../connection.ts'
import { decodeRecord, Malformed, varint } from './record.ts'

/** The pages of a database, counted from 1. */
export type Pages = Pick<DatabaseFile, 'page' | 'pageCount'>

/** What a walk through the pages of a table or an index finds. */
export type Met =
  | {
      readonly kind: 'row'
      readonly page: number
      readonly rowid: number
      readonly values: readonly SqlValue[]
    }
  | {
      readonly kind: 'broken-row'
      readonly page: number
      readonly rowid: number | undefined
      readonly problem: string
    }
  | { readonly kind: 'broken-page'; readonly page: number; readonly problem: string }

/** The kinds of pages that trees are made of (SQLite's file format, "B-tree Pages"). */
const INDEX_INTERIOR = 2
const TABLE_INTERIOR = 5
const INDEX_LEAF = 10
const TABLE_LEAF = 13
const PAGE_KINDS = new Set([INDEX_INTERIOR, TABLE_INTERIOR, INDEX_LEAF, TABLE_LEAF])

interface TreePage {
  readonly number: number
  readonly bytes: Buffer
  readonly kind: number
  readonly cells: readonly number[]
  readonly rightmost: number | undefined
}

/**
 * Everything below a root page, in order, going on behind what is broken. Rows of an index have the rowid that ends
 * their values. `visited` takes the pages that were seen: a page that two trees claim is broken for the second one.
 */
export function* walkTree(file: Pages, root: number, visited: Set<number>): Generator<Met> {
  const waiting = [root]
  for (let number = waiting.pop(); number !== undefined; number = waiting.pop()) {
    let page: TreePage
    try {
      page = treePage(file, number, visited)
    } catch (error) {
      yield { kind: 'broken-page', page: number, problem: problemOf(error) }
      continue
    }
    if (page.kind === TABLE_LEAF || page.kind === INDEX_LEAF) yield* rowsOf(file, page)
    else {
      if (page.kind === INDEX_INTERIOR) yield* rowsOf(file, page)
      waiting.push(...childrenOf(page).toReversed())
    }
  }
}

/** The rows of one page that no tree leads to; nothing where it is no page of rows. */
export function* looseRows(file: Pages, number: number): Generator<Met> {
  if (file.page(number)?.[0] !== TABLE_LEAF) return
  try {
    yield* rowsOf(file, treePage(file, number, new Set()))
  } catch {
    // Not a page of rows after all.
  }
}

/** Pages that hold nothing: those may have rows of long ago in them. */
export function freePages(file: Pages): Set<number> {
  const free = new Set<number>()
  let trunk = file.page(1)?.readUInt32BE(32) ?? 0
  while (trunk > 0 && trunk <= file.pageCount && !free.has(trunk)) {
    free.add(trunk)
    const bytes = file.page(trunk)
    if (bytes === undefined) break
    const count = Math.min(bytes.readUInt32BE(4), PAGE_BYTES / 4 - 2)
    for (let at = 0; at < count; at++) free.add(bytes.readUInt32BE(8 + at * 4))
    trunk = bytes.readUInt32BE(0)
  }
  return free
}

function treePage(file: Pages, number: number, visited: Set<number>): TreePage {
  if (number < 1 || number > file.pageCount) throw new Malformed(`the file has no page ${number}`)
  if (visited.has(number)) throw new Malformed('it is used twice')
  visited.add(number)
  const bytes = file.page(number)
  if (bytes === undefined) throw new Malformed('it is beyond the end of the file, which was cut')
  const start = number === 1 ? 100 : 0
  const kind = bytes[start] ?? 0
  if (!PAGE_KINDS.has(kind))
    throw new Malformed(
      bytes.every((byte) => byte === 0) ? 'it is all zeros' : 'it is no page of a table or an index',
    )
  const isInterior = kind === INDEX_INTERIOR || kind === TABLE_INTERIOR
  const pointersAt = start + (isInterior ? 12 : 8)
  const count = bytes.readUInt16BE(start + 3)
  if (pointersAt + count * 2 > PAGE_BYTES) throw new Malformed('it says that it has more rows than fit')
  const cells = Array.from({ length: count }, (_, at) => bytes.readUInt16BE(pointersAt + at * 2))
  return { number, bytes, kind, cells, rightmost: isInterior ? bytes.readUInt32BE(start + 8) : undefined }
}

function childrenOf({ bytes, cells, rightmost }: TreePage): number[] {
  const children = cells.map((at) => (at + 4 <= PAGE_BYTES ? bytes.readUInt32BE(at) : 0))
  return rightmost === undefined ? children : [...children, rightmost]
}

function* rowsOf(file: Pages, page: TreePage): Generator<Met> {
  for (const at of page.cells) {
    let rowid: number | undefined
    try {
      const cell = cellAt(page, at)
      rowid = cell.rowid
      const values = decodeRecord(payloadOf(file, page, cell))
      yield { kind: 'row', page: page.number, rowid: rowid ?? Number(values.at(-1)), values }
    } catch (error) {
      if (!(error instanceof Malformed || error instanceof RangeError)) throw error
      yield { kind: 'broken-row', page: page.number, rowid, problem: problemOf(error) }
    }
  }
}

interface Cell {
  readonly rowid: number | undefined
  readonly length: number
  readonly payloadAt: number
}

function cellAt({ bytes, kind }: TreePage, at: number): Cell {
  const [length, next] = varint(bytes, kind === INDEX_INTERIOR ? at + 4 : at)
  if (kind !== TABLE_LEAF) return { rowid: undefined, length, payloadAt: next }
  const [rowid, payloadAt] = varint(bytes, next)
  return { rowid, length, payloadAt }
}

/** The bytes of a record: its part in the page, and the rest from its overflow pages. */
function payloadOf(file: Pages, page: TreePage, { length, payloadAt }: Cell): Buffer {
  const most = page.kind === TABLE_LEAF ? PAGE_BYTES - 35 : Math.floor(((PAGE_BYTES - 12) * 64) / 255) - 23
  if (length <= most) {
    if (payloadAt + length > PAGE_BYTES) throw new Malformed('a row goes beyond its page')
    return page.bytes.subarray(payloadAt, payloadAt + length)
  }
  const least = Math.floor(((PAGE_BYTES - 12) * 32) / 255) - 23
  const wanted = least + ((length - least) % (PAGE_BYTES - 4))
  const local = wanted <= most ? wanted : least
  if (payloadAt + local + 4 > PAGE_BYTES) throw new Malformed('a row goes beyond its page')
  // A length that is damaged must not ask for more memory than there is file.
  if (length > file.pageCount * PAGE_BYTES) throw new Malformed('a row says that it is longer than the file')
  const parts = [page.bytes.subarray(payloadAt, payloadAt + local)]
  let next = page.bytes.readUInt32BE(payloadAt + local)
  for (let left = length - local; left > 0; left -= PAGE_BYTES - 4) {
    const bytes = next >= 1 && next <= file.pageCount ? file.page(next) : undefined
    if (bytes === undefined) throw new Malformed(`a part of the row, page ${next}, is not in the file`)
    parts.push(bytes.subarray(4, 4 + Math.min(left, PAGE_BYTES - 4)))
    next = bytes.readUInt32BE(0)
  }
  return Buffer.concat(parts, length)
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
