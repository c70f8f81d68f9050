import { promisify } from 'node:util'
import { crc32, deflateRaw } from 'node:zlib'
import {
  DEFLATED,
  DIRECTORY_HEADER,
  DIRECTORY_HEADER_BYTES,
  END_OF_DIRECTORY,
  END_OF_DIRECTORY_BYTES,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  MAX_ENTRIES,
  MAX_OFFSET,
  STORED,
  UTF8_NAME,
} from './zip-format.ts'

const deflate = promisify(deflateRaw)

/** Pieces are joined to chunks of about this size. */
const CHUNK_BYTES = 64 * 1024

/** A file to put into a zip. */
export interface ZipFile {
  readonly name: string
  readonly content: Buffer
  /** Epoch milliseconds; written in UTC. */
  readonly modifiedMs: number
}

interface Written {
  readonly name: Buffer
  readonly modifiedMs: number
  readonly crc: number
  readonly method: number
  readonly packedBytes: number
  readonly bytes: number
  readonly offset: number
}

/** Pieces that are joined. */
class Pieces {
  #waiting: Buffer[] = []
  #waitingBytes = 0
  /** All bytes that were added. */
  bytes = 0

  get isFull(): boolean {
    return this.#waitingBytes >= CHUNK_BYTES
  }

  add(...pieces: Buffer[]): void {
    for (const { length } of pieces) {
      this.#waitingBytes += length
      this.bytes += length
    }
    this.#waiting.push(...pieces)
  }

  /** The pieces that were not taken yet, as one. */
  take(): Buffer {
    const joined = Buffer.concat(this.#waiting, this.#waitingBytes)
    this.#waiting = []
    this.#waitingBytes = 0
    return joined
  }
}

/**
 * A zip of these files, in chunks. Takes one file at a time and packs it in the thread pool, so the zip is never whole in
 * memory. Its directory is, as bytes outside of the heap: see `directoryBytes`. Throws an Error if the zip needs zip64: see `fitsInZip`.
 */
export async function* zipChunks(files: Iterable<ZipFile>): AsyncGenerator<Buffer> {
  const [zip, entries, directory] = [new Pieces(), new Pieces(), [] as Buffer[]]
  let count = 0
  for (const file of files) {
    const packed = await deflate(file.content)
    const isSmaller = packed.length < file.content.length
    const data = isSmaller ? packed : file.content
    const entry: Written = {
      name: Buffer.from(file.name),
      modifiedMs: file.modifiedMs,
      crc: crc32(file.content),
      method: isSmaller ? DEFLATED : STORED,
      packedBytes: data.length,
      bytes: file.content.length,
      offset: zip.bytes,
    }
    count++
    entries.add(directoryHeader(entry), entry.name)
    if (entries.isFull) directory.push(entries.take())
    zip.add(localHeader(entry), entry.name, data)
    if (zip.isFull) yield zip.take()
  }
  const start = zip.bytes
  directory.push(entries.take())
  if (count > MAX_ENTRIES || start + entries.bytes > MAX_OFFSET)
    throw new Error('a zip of this size needs zip64')
  yield zip.take()
  yield* directory
  yield endOfDirectory(count, start, entries.bytes)
}

/** The bytes of the directory of a zip with these names. */
export function directoryBytes(names: readonly { readonly name: string }[]): number {
  return names.reduce((sum, { name }) => sum + DIRECTORY_HEADER_BYTES + Buffer.byteLength(name), 0)
}

/** Whether files with these names and sizes fit in a zip, even if compression saves nothing. */
export function fitsInZip(files: readonly { readonly name: string; readonly bytes: number }[]): boolean {
  const overhead = LOCAL_HEADER_BYTES + DIRECTORY_HEADER_BYTES
  const sizeOf = ({ name, bytes }: { name: string; bytes: number }): number =>
    overhead + 2 * Buffer.byteLength(name) + bytes
  const total = files.reduce((sum, file) => sum + sizeOf(file), END_OF_DIRECTORY_BYTES)
  return files.length <= MAX_ENTRIES && total <= MAX_OFFSET
}

function localHeader(entry: Written): Buffer {
  const header = Buffer.alloc(LOCAL_HEADER_BYTES)
  header.writeUInt32LE(LOCAL_HEADER, 0)
  writeCommon(header.subarray(4), entry)
  return header
}

function directoryHeader(entry: Written): Buffer {
  const header = Buffer.alloc(DIRECTORY_HEADER_BYTES)
  header.writeUInt32LE(DIRECTORY_HEADER, 0)
  header.writeUInt16LE(20, 4)
  writeCommon(header.subarray(6), entry)
  header.writeUInt32LE(entry.offset, 42)
  return header
}

/** The fields that both headers have in the same order, from the required version to the length of the extra field. */
function writeCommon(header: Buffer, { name, modifiedMs, crc, method, packedBytes, bytes }: Written): void {
  header.writeUInt16LE(20, 0)
  header.writeUInt16LE(UTF8_NAME, 2)
  header.writeUInt16LE(method, 4)
  header.writeUInt32LE(dosTime(modifiedMs), 6)
  header.writeUInt32LE(crc, 10)
  header.writeUInt32LE(packedBytes, 14)
  header.writeUInt32LE(bytes, 18)
  header.writeUInt16LE(name.length, 22)
}

function endOfDirectory(count: number, start: number, bytes: number): Buffer {
  const end = Buffer.alloc(END_OF_DIRECTORY_BYTES)
  end.writeUInt32LE(END_OF_DIRECTORY, 0)
  end.writeUInt16LE(count, 8)
  end.writeUInt16LE(count, 10)
  end.writeUInt32LE(bytes, 12)
  end.writeUInt32LE(start, 16)
  return end
}

/** Date and time in the format of MS-DOS, which has the years 1980 to 2107. */
function dosTime(ms: number): number {
  const at = new Date(Math.min(Math.max(ms, Date.UTC(1980, 0)), Date.UTC(2107, 11)))
  const date = ((at.getUTCFullYear() - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate()
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1)
  return date * 0x10000 + time
}
