import { PAGE_BYTES } from './database-file.ts'
import type { Pages } from './tree-walk.ts'

/** Pages made by hand, the first one first; undefined for one that the file has lost. */
export function pagesOf(...pages: (Buffer | undefined)[]): Pages {
  return { pageCount: pages.length, page: (number) => pages[number - 1] }
}

/** A page of rows of a table. */
export function leafPage(...cells: Buffer[]): Buffer {
  return treePage(13, cells)
}

/** A page that leads to others; the last child is the rightmost one. */
export function interiorPage(...children: number[]): Buffer {
  const cells = children.slice(0, -1).map((child) => Buffer.concat([uint32(child), varint(1)]))
  return treePage(5, cells, children.at(-1))
}

/** A page of any kind. `rightmost` is the last child of a page that leads to others. */
export function treePage(kind: number, cells: readonly Buffer[], rightmost?: number): Buffer {
  const page = Buffer.alloc(PAGE_BYTES)
  page[0] = kind
  page.writeUInt16BE(cells.length, 3)
  if (rightmost !== undefined) page.writeUInt32BE(rightmost, 8)
  let end = PAGE_BYTES
  for (const [at, cell] of cells.entries()) {
    end -= cell.length
    cell.copy(page, end)
    page.writeUInt16BE(end, (rightmost === undefined ? 8 : 12) + at * 2)
  }
  return page
}

/** A row of a table that fits its page. */
export function rowCell(rowid: number, values: readonly (string | number | Buffer | null)[]): Buffer {
  const bytes = record(values)
  return Buffer.concat([varint(bytes.length), varint(rowid), bytes])
}

/** The bytes of a record. Numbers take one byte each. */
export function record(values: readonly (string | number | Buffer | null)[]): Buffer {
  const bodies = values.map((value) => {
    if (value === null) return Buffer.alloc(0)
    return typeof value === 'number' ? Buffer.from([value]) : Buffer.from(value)
  })
  const types = values.map((value, at) => {
    if (value === null) return varint(0)
    if (typeof value === 'number') return varint(1)
    return varint(bodies[at]!.length * 2 + (typeof value === 'string' ? 13 : 12))
  })
  const header = Buffer.concat(types)
  // The length of a header counts its own one or two bytes.
  const headerBytes = header.length + (header.length < 127 ? 1 : 2)
  return Buffer.concat([varint(headerBytes), header, ...bodies])
}

/** A number as the file format writes it, up to 2^28. */
export function varint(value: number): Buffer {
  const bytes = [value & 0x7f]
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift((rest & 0x7f) | 0x80)
  return Buffer.from(bytes)
}

/** Four bytes. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}
