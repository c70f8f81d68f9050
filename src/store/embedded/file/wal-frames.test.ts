import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { readWalFrames, type WalFrames } from './wal-frames.ts'

const PAGE = 512
const FRAME = 24 + PAGE
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'waypost-wal-'))
})
afterEach(() => {
  rmSync(directory, { recursive: true })
})

/** What a frame holds: an image of a page, and the page count of the database where it ends a commit. */
interface Frame {
  readonly page: number
  readonly pageCount?: number
}

/** A log in the layout of SQLite's file format, "The Write-Ahead Log", with little-endian checksums. */
function log(...frames: Frame[]): Buffer {
  const header = Buffer.alloc(32)
  for (const [at, value] of [0x377f0682, 3_007_000, PAGE, 0, 11, 22].entries())
    header.writeUInt32BE(value, at * 4)
  let sums = summed([0, 0], header.subarray(0, 24))
  writeSums(header, 24, sums)
  const parts = [header]
  for (const { page, pageCount = 0 } of frames) {
    const frame = Buffer.alloc(FRAME, page)
    for (const [at, value] of [page, pageCount, 11, 22].entries()) frame.writeUInt32BE(value, at * 4)
    sums = summed(summed(sums, frame.subarray(0, 8)), frame.subarray(24))
    writeSums(frame, 16, sums)
    parts.push(frame)
  }
  return Buffer.concat(parts)
}

function summed([first, second]: readonly [number, number], bytes: Buffer): [number, number] {
  let [a, b] = [first, second]
  for (let at = 0; at < bytes.length; at += 8) {
    a = (a + bytes.readUInt32LE(at) + b) >>> 0
    b = (b + bytes.readUInt32LE(at + 4) + a) >>> 0
  }
  return [a, b]
}

function writeSums(bytes: Buffer, at: number, [first, second]: readonly [number, number]): void {
  bytes.writeUInt32BE(first, at)
  bytes.writeUInt32BE(second, at + 4)
}

function framesIn(bytes: Buffer): WalFrames {
  const path = join(directory, 'wal')
  writeFileSync(path, bytes)
  const file = openSync(path, 'r')
  try {
    return readWalFrames(file, PAGE)
  } finally {
    closeSync(file)
  }
}

/** Where the page of a frame starts. */
function pageAt(frame: number): number {
  return 32 + frame * FRAME + 24
}

const TWO_COMMITS = log({ page: 2 }, { page: 3, pageCount: 3 }, { page: 2, pageCount: 4 })

test('the newest committed image of each page is found', () => {
  expect(framesIn(TWO_COMMITS)).toEqual({
    bytes: TWO_COMMITS.length,
    pages: new Map([
      [2, pageAt(2)],
      [3, pageAt(1)],
    ]),
    pageCount: 4,
    commits: 2,
    tailBytes: 0,
    commitsBehindDamage: 0,
  })
})

test('frames without a commit after them do not count', () => {
  const found = framesIn(log({ page: 2, pageCount: 3 }, { page: 2 }, { page: 3 }))
  expect(found).toMatchObject({ pages: new Map([[2, pageAt(0)]]), commits: 1, tailBytes: 2 * FRAME })
})

test('a frame that is cut does not count', () => {
  const found = framesIn(TWO_COMMITS.subarray(0, -1))
  expect(found).toMatchObject({ commits: 1, pageCount: 3, tailBytes: FRAME - 1, commitsBehindDamage: 1 })
})

test('nothing counts from a damaged frame on, and the commits behind it are counted', () => {
  const bytes = log(...[1, 2, 3, 4, 5].map((page) => ({ page, pageCount: 5 })))
  bytes[pageAt(1) + 100]! ^= 1
  expect(framesIn(bytes)).toMatchObject({
    pages: new Map([[1, pageAt(0)]]),
    commits: 1,
    tailBytes: 4 * FRAME,
    commitsBehindDamage: 4,
  })
})

test('frames of an older generation, which have other salts, end the log and are no damage', () => {
  const bytes = log({ page: 1, pageCount: 5 }, { page: 2, pageCount: 5 })
  bytes.writeUInt32BE(10, 32 + FRAME + 8)
  expect(framesIn(bytes)).toMatchObject({ commits: 1, tailBytes: FRAME, commitsBehindDamage: 0 })
})

test('a frame of page 0 ends the log', () => {
  expect(framesIn(log({ page: 1, pageCount: 5 }, { page: 0, pageCount: 5 })).commits).toBe(1)
})

test.each([
  ['is empty', (bytes: Buffer) => bytes.subarray(0, 0)],
  ['has half a header', (bytes: Buffer) => bytes.subarray(0, 31)],
  ['has another magic number', (bytes: Buffer) => withByte(bytes, 0)],
  ['is of pages of another size', (bytes: Buffer) => withByte(bytes, 10)],
  ['has a header that is damaged', (bytes: Buffer) => withByte(bytes, 20)],
])('a log that %s has no frames', (_, change) => {
  const bytes = change(Buffer.from(TWO_COMMITS))
  expect(framesIn(bytes)).toEqual({
    bytes: bytes.length,
    pages: new Map(),
    pageCount: undefined,
    commits: 0,
    tailBytes: bytes.length,
    commitsBehindDamage: 0,
  })
})

function withByte(bytes: Buffer, at: number): Buffer {
  bytes[at]! ^= 1
  return bytes
}
