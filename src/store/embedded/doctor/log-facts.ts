import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { PAGE_BYTES } from '../database/format.ts'

/** The contents of the log beside a database. */
export interface LogFacts {
  /** Commits that hold. */
  readonly commits: number
  /** The numbers of the pages that they wrote. */
  readonly pages: ReadonlySet<number>
  /** Bytes after the last valid commit: the rest of a change that a crash interrupted. */
  readonly tailBytes: number
  /** Commits of the same generation after that. A crash explains one; more were finished, so the log was damaged later. */
  readonly commitsBehindDamage: number
}

const HEADER_BYTES = 32
const FRAME_HEADER_BYTES = 24

/**
 * Reads the frames' headers of a log (see SQLite's file format, "The Write-Ahead Log"). SQLite gives the number of valid
 * frames. Older generations have other salts.
 */
export function readLog(path: string, framesThatHold: number): LogFacts {
  const file = openSync(path, 'r')
  try {
    const { size } = fstatSync(file)
    const salts = bytesAt(file, 16, 8)
    const end = HEADER_BYTES + framesThatHold * (FRAME_HEADER_BYTES + PAGE_BYTES)
    const pages = new Set<number>()
    let commits = 0
    let commitsBehindDamage = 0
    for (let at = HEADER_BYTES; at + FRAME_HEADER_BYTES <= size; at += FRAME_HEADER_BYTES + PAGE_BYTES) {
      const header = bytesAt(file, at, FRAME_HEADER_BYTES)
      const endsCommit = header.readUInt32BE(4) > 0
      if (at < end) {
        pages.add(header.readUInt32BE(0))
        if (endsCommit) commits++
      } else if (endsCommit && header.subarray(8, 16).equals(salts)) commitsBehindDamage++
    }
    const tailBytes = size < end ? size : size - end
    return { commits, pages, tailBytes, commitsBehindDamage }
  } finally {
    closeSync(file)
  }
}

function bytesAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.alloc(length)
  readSync(file, bytes, 0, length, at)
  return bytes
}
