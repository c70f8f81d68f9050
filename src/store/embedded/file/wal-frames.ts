import { fstatSync, readSync } from 'node:fs'

/** What the log beside the database holds, judged as SQLite judges it when it opens the database. */
export interface WalFrames {
  /** Bytes of the file. */
  readonly bytes: number
  /** Where the newest committed image of a page starts in the log, by page number. */
  readonly pages: ReadonlyMap<number, number>
  /** How many pages the database has after the last commit; undefined where the log has no commit. */
  readonly pageCount: number | undefined
  /** Commits that hold. */
  readonly commits: number
  /** Bytes after the last commit that holds: what a crash leaves behind of the change it interrupted. */
  readonly tailBytes: number
  /**
   * Commits of the same generation after the first frame that cannot be trusted. One may be the change that a crash
   * interrupted; more than one were finished, so something damaged the log afterwards.
   */
  readonly commitsBehindDamage: number
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24
const MAGIC = 0x377f0682
const NO_FRAMES: Omit<WalFrames, 'bytes' | 'tailBytes'> = {
  pages: new Map(),
  pageCount: undefined,
  commits: 0,
  commitsBehindDamage: 0,
}

/** Reads a log from an open file (see SQLite's file format, "The Write-Ahead Log"). */
export function readWalFrames(file: number, pageSize: number): WalFrames {
  const bytes = fstatSync(file).size
  const header = Buffer.alloc(HEADER_BYTES)
  const none = { ...NO_FRAMES, bytes, tailBytes: bytes }
  if (bytes < HEADER_BYTES || readSync(file, header, 0, HEADER_BYTES, 0) < HEADER_BYTES) return none
  const magic = header.readUInt32BE(0)
  const checksum = new WalChecksum(magic === MAGIC + 1)
  checksum.add(header.subarray(0, 24))
  const isSound = magic >>> 1 === MAGIC >>> 1 && header.readUInt32BE(8) === pageSize
  if (!isSound || !checksum.equals(header, 24)) return none
  return readFrames({ file, bytes, pageSize, salts: header.subarray(16, 24) }, checksum)
}

interface WalFile {
  readonly file: number
  readonly bytes: number
  readonly pageSize: number
  readonly salts: Buffer
}

function readFrames(wal: WalFile, checksum: WalChecksum): WalFrames {
  const pages = new Map<number, number>()
  let pending: [page: number, at: number][] = []
  const found = { pageCount: undefined as number | undefined, commits: 0, end: HEADER_BYTES }
  const frameBytes = FRAME_HEADER_BYTES + wal.pageSize
  const frame = Buffer.alloc(frameBytes)
  let at = HEADER_BYTES
  for (; readSync(wal.file, frame, 0, frameBytes, at) === frameBytes; at += frameBytes) {
    if (!frame.subarray(8, 16).equals(wal.salts)) break
    checksum.add(frame.subarray(0, 8))
    checksum.add(frame.subarray(FRAME_HEADER_BYTES))
    if (frame.readUInt32BE(0) === 0 || !checksum.equals(frame, 16)) break
    pending.push([frame.readUInt32BE(0), at + FRAME_HEADER_BYTES])
    const pageCount = frame.readUInt32BE(4)
    if (pageCount === 0) continue
    for (const [page, start] of pending) pages.set(page, start)
    pending = []
    found.pageCount = pageCount
    found.commits++
    found.end = at + frameBytes
  }
  const { pageCount, commits, end } = found
  const commitsBehindDamage = commitsFrom(wal, at)
  return { bytes: wal.bytes, pages, pageCount, commits, tailBytes: wal.bytes - end, commitsBehindDamage }
}

/** Counts frames of this generation that end a commit, from a place on; older generations have other salts. */
function commitsFrom(wal: WalFile, start: number): number {
  const header = Buffer.alloc(FRAME_HEADER_BYTES)
  let commits = 0
  for (let at = start; at + FRAME_HEADER_BYTES <= wal.bytes; at += FRAME_HEADER_BYTES + wal.pageSize) {
    readSync(wal.file, header, 0, FRAME_HEADER_BYTES, at)
    if (header.subarray(8, 16).equals(wal.salts) && header.readUInt32BE(4) > 0) commits++
  }
  return commits
}

/** The running checksum of a log; each value covers everything before it. */
class WalChecksum {
  readonly #bigEndian: boolean
  #first = 0
  #second = 0

  constructor(bigEndian: boolean) {
    this.#bigEndian = bigEndian
  }

  /** Takes bytes, a multiple of eight. */
  add(bytes: Buffer): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    const littleEndian = !this.#bigEndian
    let first = this.#first
    let second = this.#second
    for (let at = 0; at < view.byteLength; at += 8) {
      first = (first + view.getUint32(at, littleEndian) + second) | 0
      second = (second + view.getUint32(at + 4, littleEndian) + first) | 0
    }
    this.#first = first
    this.#second = second
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readInt32BE(at) === this.#first && bytes.readInt32BE(at + 4) === this.#second
  }
}
