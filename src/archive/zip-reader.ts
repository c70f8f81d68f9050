import { setImmediate as othersTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { crc32, inflateRaw } from 'node:zlib'
import { nameOfBytes } from './entry-names.ts'
import {
  badZip,
  DEFLATED,
  DIRECTORY_HEADER,
  DIRECTORY_HEADER_BYTES,
  ENCRYPTED,
  END_OF_DIRECTORY,
  END_OF_DIRECTORY_BYTES,
  LOCAL_HEADER,
  LOCAL_HEADER_BYTES,
  shownName,
  FILE_KIND,
  LINK,
  STORED,
  UNIX_HOSTS,
  type ZipLimits,
  zipTooLarge,
} from './zip-format.ts'

const inflate = promisify(inflateRaw)

/** Entries of the directory that are read before other work gets a turn: a few milliseconds. */
const ENTRIES_PER_TURN = 1_000

/** A file in a zip. Its name is only text: no entry is ever written to a path. */
export interface ZipEntry {
  readonly name: string
  /** Whether its content is only the path that a symbolic link leads to. */
  readonly isLink: boolean
  /** The declared size, unpacked. `read` returns exactly this many bytes or fails. */
  readonly bytes: number
  /** Unpacks the content in the thread pool. Rejects with Refusal `bad-archive` for damaged data. */
  read(): Promise<Buffer>
}

/**
 * The files in a zip, without directories, not yet unpacked. Rejects with Refusal `too-large` beyond the limits. Rejects with
 * `bad-archive` for a file that is no zip, incomplete, encrypted, or has repeated names or overlapping entries.
 */
export async function openZip(zip: Buffer, limits: ZipLimits): Promise<ZipEntry[]> {
  const directory = findDirectory(zip)
  if (directory.count > limits.maxEntries)
    throw zipTooLarge(`has ${directory.count} entries`, `at most ${limits.maxEntries} entries`)
  const headers = await readHeaders(zip, directory)
  checkSizes(headers, limits)
  checkOverlap(headers)
  return headers.filter(({ name }) => !name.endsWith('/')).map((header) => entryOf(zip, header))
}

interface Directory {
  readonly start: number
  readonly end: number
  readonly count: number
}

interface Header {
  readonly name: string
  readonly isLink: boolean
  readonly method: number
  readonly crc: number
  readonly bytes: number
  /** Offsets: of the local header, of the data, and behind the data. */
  readonly start: number
  readonly dataStart: number
  readonly end: number
}

/** Finds the last record, which may have a comment of at most 65,535 bytes up to the end of the file. */
function findDirectory(zip: Buffer): Directory {
  const last = zip.length - END_OF_DIRECTORY_BYTES
  const first = Math.max(0, last - 0xffff)
  for (let at = last; at >= first; at--) {
    if (zip.readUInt32LE(at) !== END_OF_DIRECTORY || zip.readUInt16LE(at + 20) !== last - at) continue
    return readDirectory(zip, at)
  }
  throw badZip('is no zip file, or the end of it is missing')
}

const ZIP64 = 'has the format zip64, which is not read: pack it in smaller parts, or by another program'

function readDirectory(zip: Buffer, at: number): Directory {
  const count = zip.readUInt16LE(at + 10)
  const bytes = zip.readUInt32LE(at + 12)
  const start = zip.readUInt32LE(at + 16)
  if (count === 0xffff || bytes === 0xffffffff || start === 0xffffffff) throw badZip(ZIP64)
  const isOnePart = zip.readUInt32LE(at + 4) === 0 && zip.readUInt16LE(at + 8) === count
  if (!isOnePart) throw badZip('is one part of several')
  if (start + bytes > at) throw badZip('has a directory that lies outside of it')
  return { start, end: start + bytes, count }
}

async function readHeaders(zip: Buffer, directory: Directory): Promise<Header[]> {
  const headers: Header[] = []
  const names = new Set<string>()
  let at = directory.start
  for (let index = 0; index < directory.count; index++) {
    if (at + DIRECTORY_HEADER_BYTES > directory.end || zip.readUInt32LE(at) !== DIRECTORY_HEADER)
      throw badZip('has a damaged directory')
    const nameBytes = zip.readUInt16LE(at + 28)
    const next =
      at + DIRECTORY_HEADER_BYTES + nameBytes + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32)
    if (next > directory.end) throw badZip('has a damaged directory')
    const header = readHeader(zip, at, directory.start)
    // Programs that add to a zip write a folder once more.
    if (names.has(header.name) && !/[/\\]$/.test(header.name))
      throw badZip(`has two entries named ${shownName(header.name)}`)
    names.add(header.name)
    headers.push(header)
    if (headers.length % ENTRIES_PER_TURN === 0) await othersTurn()
    at = next
  }
  return headers
}

function readHeader(zip: Buffer, at: number, dataEnd: number): Header {
  const nameBytes = zip.subarray(at + 46, at + 46 + zip.readUInt16LE(at + 28))
  const name = nameOfBytes(nameBytes)
  const method = zip.readUInt16LE(at + 10)
  const packedBytes = zip.readUInt32LE(at + 20)
  const bytes = zip.readUInt32LE(at + 24)
  const start = zip.readUInt32LE(at + 42)
  if ((zip.readUInt16LE(at + 8) & ENCRYPTED) !== 0)
    throw badZip(`is encrypted (${shownName(name)}): only plain ones are read`)
  if (packedBytes === 0xffffffff || bytes === 0xffffffff || start === 0xffffffff) throw badZip(ZIP64)
  if (method !== STORED && method !== DEFLATED)
    throw badZip(`packs ${shownName(name)} by method ${method}; only stored and deflated entries are read`)
  if (method === STORED && packedBytes !== bytes) throw badZip(`has two sizes for ${shownName(name)}`)
  const dataStart = readLocalHeader(zip, { start, dataEnd, nameBytes })
  if (dataStart + packedBytes > dataEnd) throw badZip(`is cut within ${shownName(name)}`)
  return {
    name,
    isLink: isLinkAt(zip, at),
    method,
    crc: zip.readUInt32LE(at + 16),
    bytes,
    start,
    dataStart,
    end: dataStart + packedBytes,
  }
}

/** Programs of Unix and macOS write the mode of a file. */
function isLinkAt(zip: Buffer, at: number): boolean {
  return UNIX_HOSTS.has(zip.readUInt8(at + 5)) && (zip.readUInt16LE(at + 40) & FILE_KIND) === LINK
}

/** The offset of the data. Both headers must have the same name, or two programs would read two different zips. */
function readLocalHeader(
  zip: Buffer,
  { start, dataEnd, nameBytes }: { start: number; dataEnd: number; nameBytes: Buffer },
): number {
  const nameStart = start + LOCAL_HEADER_BYTES
  if (nameStart > dataEnd || zip.readUInt32LE(start) !== LOCAL_HEADER)
    throw badZip('has a damaged entry: its directory points to nothing')
  const nameEnd = nameStart + zip.readUInt16LE(start + 26)
  if (!zip.subarray(nameStart, nameEnd).equals(nameBytes)) throw badZip('has two names for one entry')
  return nameEnd + zip.readUInt16LE(start + 28)
}

function checkSizes(headers: readonly Header[], { maxEntryBytes, maxTotalBytes }: ZipLimits): void {
  let total = 0
  for (const { name, bytes } of headers) {
    total += bytes
    if (bytes > maxEntryBytes)
      throw zipTooLarge(
        `holds ${bytes} bytes in ${shownName(name)}`,
        `at most ${maxEntryBytes} bytes in one entry`,
      )
    if (total > maxTotalBytes)
      throw zipTooLarge('unpacks to too much', `at most ${maxTotalBytes} bytes in all entries together`)
  }
}

/** With entries that share their data a small zip would unpack to a huge size. */
function checkOverlap(headers: readonly Header[]): void {
  let end = 0
  for (const header of headers.toSorted((a, b) => a.start - b.start)) {
    if (header.start < end) throw badZip('has entries that overlap')
    end = header.end
  }
}

function entryOf(zip: Buffer, header: Header): ZipEntry {
  const { name, isLink, method, crc, bytes, dataStart, end } = header
  const read = async (): Promise<Buffer> => {
    const data = zip.subarray(dataStart, end)
    const content = method === STORED ? data : await unpack(data, name, bytes)
    if (content.length !== bytes || crc32(content) !== crc) throw badZip(`is damaged in ${shownName(name)}`)
    return content
  }
  return { name, isLink, bytes, read }
}

/** Never returns more than `bytes`. */
async function unpack(data: Buffer, name: string, bytes: number): Promise<Buffer> {
  try {
    return await inflate(data, { maxOutputLength: Math.max(1, bytes) })
  } catch (error) {
    throw badZip(`is damaged in ${shownName(name)}`, error)
  }
}
